# Fails when docs/protocol-coverage.md or docs/hostile-inputs.md does not hold: a
# rule or threat without a test or a reason, a test that does not exist or does
# not name the rule, a rule, vector or threat left out, a sentence that is not
# the page's.
# CTest runs: cmake -DROOT=<source dir> [-DSHARED=<dir>] \
#                   -P cmake/check_protocol.cmake
#
# A rule's row is "| id | sentence | status | tests |", a vector's
# "| vectors/path | files | tests | what |"; tests are Suite.Name, separated by
# <br>, or "none: reason". A status is "done", "open: what lacks" or "departs
# (ADR [n](adr/...), decision): what is done instead"; without a test it is
# not done. A test names its rules in the comment above it:
# "// protocol-coverage.md 2.5.3, 2.5.4". Rules, sentences and vectors are compared
# with the shared folder where there is one; where there is none, the check says
# so.
include("${CMAKE_CURRENT_LIST_DIR}/check_tools.cmake")

set(page "docs/protocol-coverage.md")
set(id_pattern "[0-9]+(\\.t?[0-9]+)+")
set(tests "") # Suite.Name
set(names "") # Suite.Name=id, for every rule that a test names

# -- every test there is, and the rules it names -------------------------------
function(read_test source comment name)
  set(tests ${tests} ${name} PARENT_SCOPE)
  string(REPLACE "\n// " " " comment "${comment}")
  string(REGEX MATCHALL "protocol-coverage\\.md [0-9t., ]+" lists "${comment}")
  string(REGEX MATCHALL "${id_pattern}" ids "${lists}")
  set(found ${names})
  foreach(id IN LISTS ids)
    list(APPEND found "${name}=${id}")
    set_property(GLOBAL APPEND PROPERTY named "${id}=${source}")
  endforeach()
  set(names ${found} PARENT_SCOPE)
endfunction()

weir_sources(sources tests)
foreach(source IN LISTS sources)
  file(READ "${ROOT}/${source}" text)
  string(REGEX REPLACE "[][;\\]" " " text "\n${text}")
  string(REGEX MATCHALL
    "\n(//[^\n]*\n)*TEST(_F|_P)?\\([A-Za-z0-9_]+,[ \n]*[A-Za-z0-9_]+\\)" blocks
    "${text}")
  foreach(block IN LISTS blocks)
    string(REGEX MATCH
      "TEST[_FP]*\\(([A-Za-z0-9_]+),[ \n]*([A-Za-z0-9_]+)\\)$" macro "${block}")
    set(name "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
    string(REPLACE "${macro}" "" comment "${block}")
    read_test("${source}" "${comment}" "${name}")
  endforeach()
endforeach()

# -- every row -----------------------------------------------------------------

# check_proofs(<what> <tests of a row> <rule they must name, or "">)
function(check_proofs what proofs rule)
  if(proofs MATCHES "^none: .")
    return()
  endif()
  string(REGEX REPLACE " *<br> *" ";" proofs "${proofs}")
  foreach(proof IN LISTS proofs)
    if(NOT proof IN_LIST tests)
      weir_fault("${what}: no such test: ${proof}")
    elseif(rule AND NOT "${proof}=${rule}" IN_LIST names)
      weir_fault("${what}: ${proof} does not name it")
    endif()
  endforeach()
endfunction()

if(NOT EXISTS "${ROOT}/${page}")
  message(FATAL_ERROR "no such file: ${page}")
endif()

# normalise(<out> <sentence>): without what stands for cells of a table or would
# upset a list, and with single blanks.
function(normalise out text)
  string(REGEX REPLACE "[][;\\| \t]+" " " text "${text}")
  string(STRIP "${text}" text)
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# check_status(<rule> <status> <tests of the row>)
function(check_status rule status proofs)
  if(proofs MATCHES "^none:" AND status STREQUAL "done")
    weir_fault("${rule}: done without a test")
  endif()
  if(status STREQUAL "done" OR status MATCHES "^open: .")
    return()
  endif()
  set(decision "ADR +[0-9]+ +\\((adr/[a-z0-9-]+\\.md)\\), ([0-9]+)")
  if(NOT status MATCHES "^departs \\(${decision}\\): .")
    weir_fault("${rule}: no such status: ${status}")
    return()
  endif()
  set(file "docs/${CMAKE_MATCH_1}")
  set(number "${CMAKE_MATCH_2}")
  set(found "")
  if(EXISTS "${ROOT}/${file}")
    file(STRINGS "${ROOT}/${file}" found REGEX "^${number}\\. ")
  endif()
  if(NOT found)
    weir_fault("${rule}: no decision ${number} in ${file}")
  endif()
endfunction()

set(rules "")
file(READ "${ROOT}/${page}" text)
string(REPLACE "\\|" " " text "${text}") # Of a sentence, not of the table.
string(REGEX REPLACE "[][;\\]" " " text "${text}")
string(REPLACE "\n" ";" rows "${text}")
list(FILTER rows INCLUDE REGEX "^\\| *[0-9]")
foreach(row IN LISTS rows)
  string(REGEX MATCH
    "^\\| (${id_pattern}) \\| ([^|]*[^| ]) *\\| ([^|]*[^| ]) \\| ([^|]*[^| ]) \\|$"
    found "${row}")
  set(rule "${CMAKE_MATCH_1}")
  set(sentence "${CMAKE_MATCH_3}")
  set(status "${CMAKE_MATCH_4}")
  set(proofs "${CMAKE_MATCH_5}")
  if(NOT found)
    weir_fault("not a row: ${row}")
    continue()
  endif()
  if(rule IN_LIST rules)
    weir_fault("${rule}: two rows")
  endif()
  list(APPEND rules "${rule}")
  normalise(sentence "${sentence}")
  set("sentence_${rule}" "${sentence}")
  check_status("${rule}" "${status}" "${proofs}")
  check_proofs("${rule}" "${proofs}" "${rule}")
endforeach()

set(vectors "")
file(STRINGS "${ROOT}/${page}" rows REGEX "^\\| *vectors/")
foreach(row IN LISTS rows)
  if(NOT row MATCHES
     "^\\| (vectors/[^ |]+) \\| ([0-9]+) \\| ([^|]*[^| ]) \\| [^|]+ \\|$")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  list(APPEND vectors "${CMAKE_MATCH_1}=${CMAKE_MATCH_2}")
  check_proofs("${CMAKE_MATCH_1}" "${CMAKE_MATCH_3}" "")
endforeach()

# A test may name a whole section, but no rule that the page does not have.
get_property(named GLOBAL PROPERTY named)
list(REMOVE_DUPLICATES named)
foreach(each IN LISTS named)
  string(REGEX MATCH "^(.*)=(.*)$" each "${each}")
  set(rule "${CMAKE_MATCH_1}")
  set(source "${CMAKE_MATCH_2}")
  string(REPLACE "." "\\." section "${rule}")
  if(NOT rule IN_LIST rules AND NOT "${rules}" MATCHES "(^|;)${section}\\.")
    weir_fault("${source}: names rule ${rule}, which has no row")
  endif()
endforeach()

# -- every rule ----------------------------------------------------------------

# The rules of a section are its numbered items, or else its bullets and table
# rows in their order. Beside numbered items or subsections, table rows are t1,
# t2 and so on. N.0 is what a section says outside of its rules, but for
# headings, and what the title of a subsection says beyond its name.
function(add_rule rule text)
  normalise(text "${text}")
  set_property(GLOBAL APPEND PROPERTY wanted "${rule}")
  set_property(GLOBAL PROPERTY "text_${rule}" "${text}")
endfunction()

# With the lines of a rule that are indented below it.
function(extend_rule rule line)
  get_property(text GLOBAL PROPERTY "text_${rule}")
  normalise(text "${text} ${line}")
  set_property(GLOBAL PROPERTY "text_${rule}" "${text}")
endfunction()

# kind_of(<out> <line>): item, bullet, row, rule (of a table), more, none or
# prose.
function(kind_of out line)
  set(kind prose)
  if(line MATCHES "^[0-9]+\\. ")
    set(kind item)
  elseif(line MATCHES "^- ")
    set(kind bullet)
  elseif(line MATCHES "^\\|--")
    set(kind rule)
  elseif(line MATCHES "^\\|")
    set(kind row)
  elseif(line MATCHES "^ *$")
    set(kind none)
  elseif(line MATCHES "^ ")
    set(kind more)
  endif()
  set(${out} ${kind} PARENT_SCOPE)
endfunction()

function(read_section number lines)
  set(prefix "${number}.")
  if("${lines}" MATCHES ";[0-9]+\\. " OR number STREQUAL "2")
    set(prefix "${number}.t")
  endif()
  set(count 0)
  set(current "")  # The rule that indented lines belong to.
  set(previous "") # A row of a table, until it is known to be no head.
  list(POP_FRONT lines prose) # The title.
  if(NOT number MATCHES "\\." OR NOT prose MATCHES "[:(]")
    set(prose "")
  endif()
  string(REGEX REPLACE "^[0-9.]+" "" prose "${prose}")
  set(last none)
  foreach(line IN LISTS lines)
    kind_of(kind "${line}")
    if(previous AND NOT kind STREQUAL "rule")
      math(EXPR count "${count} + 1")
      add_rule("${prefix}${count}" "${previous}")
    endif()
    set(previous "")
    if(kind STREQUAL "more")
      extend_rule("${current}" "${line}")
      continue()
    endif()
    set(current "")
    if(kind STREQUAL "item")
      string(REGEX MATCH "^([0-9]+)\\. (.*)$" line "${line}")
      set(current "${number}.${CMAKE_MATCH_1}")
      add_rule("${current}" "${CMAKE_MATCH_2}")
    elseif(kind STREQUAL "bullet")
      math(EXPR count "${count} + 1")
      set(current "${prefix}${count}")
      string(REGEX REPLACE "^- " "" line "${line}")
      add_rule("${current}" "${line}")
    elseif(kind STREQUAL "row")
      set(previous "${line}")
    elseif(kind STREQUAL "prose"
           AND (last STREQUAL "prose" OR line MATCHES "[.:=]"))
      string(APPEND prose " ${line}")
    endif()
    set(last ${kind})
  endforeach()
  if(prose)
    add_rule("${number}.0" "${prose}")
  endif()
endfunction()

# The last section has its numbers inside the lines.
function(read_differences number text)
  string(REGEX REPLACE " ([0-9]+)\\. " ";\\1;" parts "${text}")
  list(POP_FRONT parts) # The title.
  while(parts)
    list(POP_FRONT parts each sentence)
    add_rule("${number}.${each}" "${sentence}")
  endwhile()
endfunction()

if(EXISTS "${SHARED}/spec/protocol.md")
  file(READ "${SHARED}/spec/protocol.md" text)
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  # A section begins with "## 2. Title" or "2.1 Title".
  string(REGEX REPLACE "\n## ([0-9]+)\\. " "\n\t\\1 " text "${text}")
  string(REGEX REPLACE "\n([0-9]+\\.[0-9]+) " "\n\t\\1 " text "${text}")
  string(REPLACE "\n\t" ";" sections "${text}")
  list(POP_FRONT sections)
  foreach(section IN LISTS sections)
    string(REGEX MATCH "^[0-9.]+" number "${section}")
    string(REPLACE "\n" ";" lines "${section}\n")
    string(REPLACE "\n" " " line "${section}")
    if(number STREQUAL "11")
      read_differences("${number}" "${line}")
    else()
      read_section("${number}" "${lines}")
    endif()
  endforeach()
  get_property(wanted GLOBAL PROPERTY wanted)
  foreach(rule IN LISTS wanted)
    get_property(text GLOBAL PROPERTY "text_${rule}")
    if(NOT rule IN_LIST rules)
      weir_fault("${rule}: no row")
    elseif(NOT "${sentence_${rule}}" STREQUAL "${text}")
      weir_fault("${rule}: not the page's sentence: ${text}")
    endif()
  endforeach()
  foreach(rule IN LISTS rules)
    if(NOT rule IN_LIST wanted)
      weir_fault("${rule}: no such rule")
    endif()
  endforeach()
else()
  message(WARNING "no ${SHARED}/spec/protocol.md: rules and sentences of ${page} "
                  "were not compared with it")
endif()

# -- every vector --------------------------------------------------------------
if(EXISTS "${SHARED}/vectors")
  file(GLOB_RECURSE files RELATIVE "${SHARED}" "${SHARED}/vectors/*")
  list(FILTER files EXCLUDE REGEX "/(SOURCE\\.md|README\\.md|LICENSE[^/]*)$")
  foreach(each IN LISTS vectors)
    string(REGEX MATCH "^(.*)=(.*)$" each "${each}")
    set(path "${CMAKE_MATCH_1}")
    set(wanted_count "${CMAKE_MATCH_2}")
    set(count 0)
    set(left "")
    foreach(file IN LISTS files)
      string(FIND "${file}" "${path}" at)
      if(at EQUAL 0)
        math(EXPR count "${count} + 1")
      else()
        list(APPEND left "${file}")
      endif()
    endforeach()
    set(files ${left})
    if(NOT count EQUAL wanted_count)
      weir_fault("${path}: ${count} files, not ${wanted_count}")
    endif()
  endforeach()
  foreach(file IN LISTS files)
    weir_fault("${file}: no row")
  endforeach()
else()
  message(WARNING "no ${SHARED}/vectors: those of ${page} were not counted")
endif()

# -- every decision that a page names -----------------------------------------
foreach(each IN ITEMS "${page}" docs/hostile-inputs.md)
  file(READ "${ROOT}/${each}" text)
  string(REGEX MATCHALL "adr/[a-z0-9-]+\\.md" decisions "${text}")
  list(REMOVE_DUPLICATES decisions)
  foreach(decision IN LISTS decisions)
    if(NOT EXISTS "${ROOT}/docs/${decision}")
      weir_fault("${each}: no such decision: ${decision}")
    endif()
  endforeach()
endforeach()

# -- every threat --------------------------------------------------------------

# A row of hostile-inputs.md is "| 2.1.3 | threat | bound | tests | where |";
# its head says where the numbers are from. Where is "open" with "none: reason",
# and only then.
set(threats "")
file(STRINGS "${ROOT}/docs/hostile-inputs.md" rows REGEX "^\\| *[0-9]")
foreach(row IN LISTS rows)
  string(REGEX MATCH
    "^\\| (2\\.[0-9]+\\.[0-9]+) \\| [^|]+ \\| [^|]+ \\| ([^|]*[^| ]) \\| ([a-z]+) \\|$"
    found "${row}")
  set(threat "${CMAKE_MATCH_1}")
  set(proofs "${CMAKE_MATCH_2}")
  set(where "${CMAKE_MATCH_3}")
  if(NOT found OR NOT where MATCHES "^(program|library|both|open)$")
    weir_fault("not a row: ${row}")
    continue()
  endif()
  if(threat IN_LIST threats)
    weir_fault("${threat}: two threats")
  endif()
  list(APPEND threats "${threat}")
  if(proofs MATCHES "^none: ." AND NOT where STREQUAL "open")
    weir_fault("${threat}: no test, but not open")
  endif()
  check_proofs("${threat}" "${proofs}" "")
endforeach()

if(EXISTS "${SHARED}/design/reliability.md")
  file(STRINGS "${SHARED}/design/reliability.md" lines REGEX "^(### 2\\.|\\|)")
  set(section "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^### (2\\.[123]) ")
      set(section "${CMAKE_MATCH_1}")
      set(count -1) # Of rows; the table's head is none.
    elseif(line MATCHES "^### ")
      set(section "")
    elseif(section AND NOT line MATCHES "^\\|--")
      math(EXPR count "${count} + 1")
      if(count GREATER 0 AND NOT "${section}.${count}" IN_LIST threats)
        weir_fault("${section}.${count}: no threat")
      endif()
    endif()
  endforeach()
else()
  message(WARNING "no ${SHARED}/design/reliability.md: threats of "
                  "docs/hostile-inputs.md were not compared with it")
endif()
weir_finish("${page} or docs/hostile-inputs.md does not hold")
