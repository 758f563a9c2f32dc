# Builds the compiler. `make` gives build/mica; `make test` is the whole test suite (see README.md).
#
# In two stages, since the runtime is written in Mica: stage1/mica carries the library's text only and compiles it to
# runtime.bin, which the final compiler carries beside the text. The two differ in one object file.
CXX ?= g++
OPT ?= -O2
OBJ ?= build
CXXFLAGS += -std=c++20 $(OPT) -Wall -Wextra -ffp-contract=off -Isrc -MMD -MP
SOURCES := $(sort $(filter-out src/embed/%,$(shell find src -name '*.cpp')))
LIBRARY := $(OBJ)/embed/library.o
OBJECTS := $(SOURCES:%.cpp=$(OBJ)/%.o) $(LIBRARY)
STAGE1  := $(OBJ)/embed/no-runtime.o
STAGE2  := $(OBJ)/embed/runtime.o
RT      := $(sort $(wildcard src/rt/*.mica))
UNITS   := $(sort $(wildcard tests/unit/*.cpp))
# Where the tests' own objects lie.
TESTS   ?= $(OBJ)
UNITOBJ := $(UNITS:%.cpp=$(TESTS)/%.o)

all: $(OBJ)/mica

$(OBJ)/mica: $(OBJECTS) $(STAGE2)
	$(CXX) -static -o $@ $^ -pthread

$(OBJ)/stage1/mica: $(OBJECTS) $(STAGE1)
	@mkdir -p $(dir $@)
	$(CXX) -static -o $@ $^ -pthread

$(OBJ)/runtime.bin: $(OBJ)/stage1/mica
	$(OBJ)/stage1/mica build-runtime -o $@

$(OBJ)/unit: $(UNITOBJ) $(filter-out $(OBJ)/src/main.o,$(OBJECTS)) $(STAGE1)
	$(CXX) -o $@ $^

unit: $(OBJ)/unit

# The list is looked at in each run and written when it has changed, so that a removed module is noticed too.
$(OBJ)/embed/library.inc: FORCE
	@mkdir -p $(dir $@)
	@sh src/embed/list.sh $@

$(LIBRARY): src/embed/library.cpp $(OBJ)/embed/library.inc $(RT)
	$(CXX) $(CXXFLAGS) -I$(OBJ)/embed -c -o $@ $<

$(STAGE1): src/embed/runtime.cpp
	@mkdir -p $(dir $@)
	$(CXX) $(CXXFLAGS) -c -o $@ $<

$(STAGE2): src/embed/runtime.cpp $(OBJ)/runtime.bin
	$(CXX) $(CXXFLAGS) -DMICA_RUNTIME_X64='"$(OBJ)/runtime.bin"' -c -o $@ $<

$(OBJ)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX) $(CXXFLAGS) -c -o $@ $<

# The main job: build what is missing, train the GPT, print the loss column, then text.
TEXT  ?= corpus/text/course.txt
STEPS ?= 2000
gpt: $(OBJ)/mica
	$(OBJ)/mica run --tier release corpus/gpt/gpt.mica --text $(TEXT) --steps $(STEPS) $(OPTIONS)

PREFIX ?= /usr/local
install: $(OBJ)/mica
	install -D -m 755 $(OBJ)/mica $(DESTDIR)$(PREFIX)/bin/mica

-include $(OBJECTS:.o=.d) $(UNITOBJ:.o=.d) $(STAGE1:.o=.d) $(STAGE2:.o=.d)
.PHONY: all unit gpt install FORCE

include tests/Makefile.inc
