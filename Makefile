# Builds the compiler. `make` gives build/mica; `make test` is the whole test suite (see README.md).
CXX ?= g++
OPT ?= -O2
OBJ ?= build
CXXFLAGS += -std=c++20 $(OPT) -Wall -Wextra -ffp-contract=off -Isrc -MMD -MP
SOURCES := $(sort $(shell find src -name '*.cpp'))
OBJECTS := $(SOURCES:%.cpp=$(OBJ)/%.o)
UNITS   := $(sort $(wildcard tests/unit/*.cpp))
UNITOBJ := $(UNITS:%.cpp=$(OBJ)/%.o)

all: $(OBJ)/mica

$(OBJ)/mica: $(OBJECTS)
	$(CXX) -static -o $@ $^

$(OBJ)/unit: $(UNITOBJ) $(filter-out $(OBJ)/src/main.o,$(OBJECTS))
	$(CXX) -o $@ $^

unit: $(OBJ)/unit

$(OBJ)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX) $(CXXFLAGS) -c -o $@ $<

-include $(OBJECTS:.o=.d) $(UNITOBJ:.o=.d)
.PHONY: all unit

include tests/Makefile.inc
