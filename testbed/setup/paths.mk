# SPDX-License-Identifier: GPL-2.0
# Stops make in a folder, and at words for it, with characters that it or a shell would
# take for something else (plain-path).

plain_path := $(dir $(lastword $(MAKEFILE_LIST)))plain-path

# $(call plain,BEFORE,PATH[,spaces])
plain = $(call stop,$(shell $(plain_path) '$(1)' '$(subst ','\'',$(2))' $(3)))
stop = $(if $(1),$(error $(1)))

# As it was typed: make reads a$b as a and the value of b.
typed = $(if $(filter command environment,$(firstword $(origin $(1)))),$(value $(1)),$($(1)))

# $(call plain_word,NAME[,spaces]); absolute_word, too: install goes through several folders.
plain_word = $(call plain,$(1)=,$(call typed,$(1)),$(2))
absolute_word = $(plain_word)$(if $(filter-out /%,$(firstword $($(1)))),$(call \
	stop,$(1)=$($(1)): expected a path from / on))

$(call plain,make cannot build in ,$(CURDIR))
