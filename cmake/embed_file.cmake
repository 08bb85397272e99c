# Writes OUTPUT: a C++ file that registers the text of INPUT under NAME. Long texts become several raw strings, since a
# compiler need not take a literal of more than 64 KiB.
file(READ ${INPUT} text)
string(LENGTH "${text}" length)
set(pieces "")
set(at 0)
while(at LESS length)
  string(SUBSTRING "${text}" ${at} 12000 piece)
  string(APPEND pieces "R\"~tw~(${piece})~tw~\"\n")
  math(EXPR at "${at} + 12000")
endwhile()
file(WRITE ${OUTPUT} "#include \"base/embedded.h\"\nstatic const tilewright::EmbeddedFile file(\"${NAME}\",\n${pieces});\n")
