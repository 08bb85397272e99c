# SPDX-License-Identifier: Apache-2.0
# differential/extract.py — a kernel and what it needs from a repository, as modules that import.
"""The modules of a public repository seldom import without its many dependencies. For each file
that a kernel reaches, this writes a module with only the statements that the kernel needs, their
text unchanged; of the decorators of a kernel only triton.jit stays, so that it can be launched
directly. Imports inside the repository become imports of the written modules; a package that is not
installed becomes a stub.
"""
import ast
import hashlib
import pathlib
import sys

KEPT_DECORATORS = {"jit", "constexpr_function", "dataclass", "lru_cache", "cache", "contextmanager",
                   "property", "staticmethod", "noinline"}
LOGIC = """from interpreter_patches import logical_and as _and, logical_or as _or, logical_not as _not
"""
# What projects import from a module of theirs, which asks for a GPU first.
PASSED_ON = {"triton": "import triton as {}", "tl": "import triton.language as {}",
             "tldevice": "from triton.language.extra import libdevice as {}"}
HEAD = """class _Stub:
    def __getattr__(self, name): return _Stub()
    def __call__(self, *a, **k): return a[0] if len(a) == 1 and callable(a[0]) else _Stub()
    def __bool__(self): return False
"""


class ExtractError(Exception):
    """The kernel or something it needs was not found."""


def bound_names(statement):
    """The names that a statement of a module gives a value, branches included."""
    names = set()
    for node in _visible_nodes(statement):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name.split(".")[0]) for a in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


def _visible_nodes(node):
    """The nodes of a statement without the insides of functions and classes."""
    yield node
    if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda)):
        return
    for child in ast.iter_child_nodes(node):
        yield from _visible_nodes(child)


def _local_names(statement):
    """The parameters and variables of a function, which hide names of the module."""
    if not isinstance(statement, ast.FunctionDef):
        return set()
    stored = {n.id for n in ast.walk(statement)
              if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return stored | {n.arg for n in ast.walk(statement) if isinstance(n, ast.arg)}


def _indented(text):
    return "\n".join("    " + line for line in text.splitlines())


def _decorator_name(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


class Module:
    def __init__(self, extractor, path):
        self.extractor = extractor
        self.path = path
        self.name = "tw_" + hashlib.sha1(str(path).encode()).hexdigest()[:12]
        self.lines = path.read_text().splitlines()
        self.body = ast.parse("\n".join(self.lines)).body
        self.wanted = {}  # index of statement -> wanted names
        self.attributes = {}  # alias of a module in the repository -> attributes that are used

    def need(self, name):
        """Marks all statements that bind `name`; false when there is none."""
        found = False
        for index, statement in enumerate(self.body):
            if name not in bound_names(statement):
                continue
            found = True
            names = self.wanted.setdefault(index, set())
            if name in names:
                continue
            first = not names
            names.add(name)
            if first:
                self._need_parts(statement)
        return found

    def _need_parts(self, statement):
        self._drop_decorators(statement)
        loads = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                self.attributes.setdefault(node.value.id, set()).add(node.attr)
            if isinstance(node, ast.Name):
                loads.add(node.id)
        for name in sorted(loads - _local_names(statement)):
            self.need(name)

    def _drop_decorators(self, statement):
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = [d for d in node.decorator_list
                                       if _decorator_name(d) in KEPT_DECORATORS]

    def resolve(self):
        """Follows the imports of the wanted names; true when that wanted something new."""
        before = self.extractor.count()
        for index in list(self.wanted):
            for node in _visible_nodes(self.body[index]):
                if isinstance(node, ast.ImportFrom):
                    for alias in node.names:
                        self._resolve_alias(node, alias)
                elif isinstance(node, ast.Import):
                    for alias in node.names:
                        self._resolve_module(self.extractor.find(self.path, alias.name, 0),
                                             alias.asname or alias.name)
        return self.extractor.count() != before

    def _resolve_alias(self, node, alias):
        local = alias.asname or alias.name
        if not any(local in names for names in self.wanted.values()):
            return
        submodule = self.extractor.find(self.path, f"{node.module or ''}.{alias.name}".strip("."),
                                        node.level)
        source = self.extractor.find(self.path, node.module or "", node.level)
        if source and source.need(alias.name):
            return
        self._resolve_module(submodule, local)

    def _resolve_module(self, module, local):
        for attribute in self.attributes.get(local, ()) if module else ():
            module.need(attribute)

    def text(self):
        parts = [LOGIC + HEAD if self.extractor.interpreted else HEAD]
        for index in sorted(self.wanted):
            statement = self.body[index]
            if isinstance(statement, ast.FunctionDef):
                parts.append(self._function_text(statement))
            elif isinstance(statement, (ast.Import, ast.ImportFrom)):
                parts.append(self._import_text(statement, self.wanted[index]))
            else:
                parts.append(self._other_text(statement, self.wanted[index]))
        return "\n".join(parts) + "\n"

    def _function_text(self, statement):
        decorators = [f"@{ast.unparse(d)}" for d in statement.decorator_list]
        if self.extractor.interpreted and any(isinstance(n, (ast.BoolOp, ast.Not))
                                              for n in ast.walk(statement)):
            return ast.unparse(_RewriteLogic().visit(statement))
        return "\n".join(decorators + self.lines[statement.lineno - 1 : statement.end_lineno])

    def _other_text(self, statement, names):
        """The statement; when it fails, each simple statement in it whose names still lack a value
        (a test of versions that cannot be evaluated), and at last stubs."""
        statement = _RewriteImports(self).visit(statement)
        text = f"try:\n{_indented(ast.unparse(statement))}\nexcept Exception:\n    pass\n"
        for part in _visible_nodes(statement):
            if isinstance(part, (ast.Import, ast.ImportFrom, ast.Assign, ast.FunctionDef)):
                missing = " or ".join(f"{n!r} not in globals()" for n in sorted(bound_names(part)))
                body = f"try:\n{_indented(ast.unparse(part))}\nexcept Exception:\n    pass"
                text += f"if {missing or False}:\n{_indented(body)}\n"
        return text + "\n".join(f"{n} = globals().get({n!r}, _Stub())" for n in sorted(names))

    def _import_text(self, node, names):
        parts = []
        for alias in node.names:
            local = alias.asname or alias.name.split(".")[0]
            if local in names:
                parts.append(self.alias_text(node, alias, local))
        return "\n".join(parts)

    def alias_text(self, node, alias, local):
        """One imported name, from a written module, an installed package, or as a stub."""
        if isinstance(node, ast.ImportFrom):
            path = f"{node.module or ''}.{alias.name}".strip(".")
            source = self.extractor.find(self.path, node.module or "", node.level)
            if source and alias.name in PASSED_ON:
                return PASSED_ON[alias.name].format(local)
            if source and source.has(alias.name):
                return f"from {source.name} import {alias.name} as {local}"
            module = self.extractor.find(self.path, path, node.level)
            text = f"from {node.module} import {alias.name} as {local}" if not node.level else "1/0"
        else:
            module = self.extractor.find(self.path, alias.name, 0)
            text = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
        if module:
            return f"import {module.name} as {local}"
        return f"try:\n    {text}\nexcept Exception:\n    {local} = _Stub()"

    def has(self, name):
        return any(name in names for names in self.wanted.values())


class _RewriteImports(ast.NodeTransformer):
    """Inside `if` and `try`: imports from the repository become imports of written modules."""

    def __init__(self, module):
        self.module = module

    def visit_ImportFrom(self, node):
        source = self.module.extractor.find(self.module.path, node.module or "", node.level)
        if not source:
            return node
        names = [a for a in node.names if source.has(a.name)]
        return ast.ImportFrom(source.name, names, 0) if names else ast.Pass()


class _RewriteLogic(ast.NodeTransformer):
    """Python's `and`, `or` and `not` of blocks: Triton's interpreter gets them wrong."""

    def visit_BoolOp(self, node):
        self.generic_visit(node)
        name = "_and" if isinstance(node.op, ast.And) else "_or"
        result = node.values[0]
        for value in node.values[1:]:
            empty = ast.arguments([], [], None, [], [], None, [])
            result = ast.Call(ast.Name(name), [result, ast.Lambda(empty, value)], [])
        return result

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return ast.Call(ast.Name("_not"), [node.operand], [])


class Extractor:
    def __init__(self, root, interpreted=False):
        self.root = pathlib.Path(root).resolve()
        self.interpreted = interpreted
        self.modules = {}

    def module(self, path):
        if path not in self.modules:
            self.modules[path] = Module(self, path)
        return self.modules[path]

    def count(self):
        return sum(len(n) for m in self.modules.values() for n in m.wanted.values())

    def find(self, importer, name, level):
        """The Module of the repository that an import names, or None for one from outside."""
        parts = [p for p in name.split(".") if p]
        if level:
            folders = [importer.parents[level - 1]]
        elif not parts or parts[0] in sys.stdlib_module_names or parts[0] in ("triton", "torch"):
            return None
        else:
            folders = [f for f in importer.parents if self.root in [f, *f.parents]]
        for folder in folders:
            base = folder.joinpath(*parts)
            for path in (base.with_suffix(".py") if parts else base / "__init__.py",
                         base / "__init__.py"):
                if path.is_file():
                    return self.module(path)
        return None

    def extract(self, file, kernel):
        module = self.module((self.root / file).resolve())
        if not module.need(kernel):
            raise ExtractError(f"{file} has no '{kernel}'")
        while any([m.resolve() for m in list(self.modules.values())]):
            pass
        return module

    def write(self, folder):
        for module in list(self.modules.values()):
            if module.wanted:
                (pathlib.Path(folder) / f"{module.name}.py").write_text(module.text())

    def files(self):
        return sorted(str(p.relative_to(self.root)) for p in self.modules)
