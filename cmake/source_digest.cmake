# cmake -DOUT=FILE -DROOT=DIR "-DPATTERNS=plugins/x/*.c|lib/net/*.c" -P source_digest.cmake
# Writes 16 hex digits that stand for the sources that match. They lie beside a built plugin, so that
# orch can tell that a run was made by a build of other sources; the compiler does not matter.
string(REPLACE "|" ";" patterns "${PATTERNS}")
set(files "")
foreach(pattern ${patterns})
  file(GLOB_RECURSE found RELATIVE ${ROOT} ${ROOT}/${pattern})
  list(APPEND files ${found})
endforeach()
list(SORT files)
set(text "")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} digest)
  string(APPEND text "${digest} ${file}\n")
endforeach()
string(SHA256 digest "${text}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUT} "${digest}\n")
