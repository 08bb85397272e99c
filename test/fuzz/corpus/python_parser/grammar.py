@decorated(1, *a, k=2, **kw)
class A[T](B, metaclass=M):
    x: int = 1
    async def f(self, a, /, b: str = "s", *args, c, **kw) -> None:
        async with a as b, c: await d
        async for i in j: yield i
        return [*a, {**b, 'k': {1, 2}}, (yield), lambda x, *y: x if y else ~x ** -2]
try:
    with (open('f') as f, g): pass
except (E, F) as e:
    raise X from e
else:
    del a[0], b.c
finally:
    assert x, "y"
match a, b:
    case {"k": [1, *rest], **m} | P(x, y=2) if z:
        global g
    case -1 | None | "s" as t: ...
while (n := f(x for x in y if x not in z)) is not None:
    a, *b = c = d; e @= f // 2 << 3
    x[1:2, ::3, ...] = r'\d' b'\x00' 'é\u00e9\n'
    if 1 < n <= 2_000 != 0b11 or 0o7 and not 1.5e-3j: continue
    elif a: break
type Y[*Ts] = int
from .. import (a as b, c)
import a.b.c as d
f"{a}{{x}}{b!r:>{w}.2f}{c=}{f'{d['k']}'}" f'''
{e:%H}'''
