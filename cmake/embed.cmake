# Writes the C file OUT that holds the bytes of FILE, and a NUL behind them, as 'const char NAME[]', and their number
# without it as 'const unsigned long NAME_LENGTH' (orch_embed).
# Each byte is an escape, so that any file can be held.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
string(REPLACE "\\x0a" "\\x0a\"\n    \"" bytes "${bytes}")
file(WRITE ${OUT} "extern const char ${NAME}[];\nconst char ${NAME}[] =\n    \"${bytes}\";\nextern const unsigned long ${NAME}_LENGTH;\nconst unsigned long ${NAME}_LENGTH = sizeof ${NAME} - 1;\n")
