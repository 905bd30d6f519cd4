// SPDX-License-Identifier: GPL-2.0
/*
 * test_json.c - whole numbers in JSON: strings where a double would round them
 */
#include <string.h>

#include "lib/json.h"
#include "tests/tap.h"

static void check(char *buf, const char *expected)
{
	if (!ok(!strcmp(buf, expected), "%s", expected))
		printf("# got %s\n", buf);
}

static void test_unsigned(uint64_t value, const char *expected)
{
	char buf[64] = "";
	FILE *memory = fmemopen(buf, sizeof(buf), "w");
	struct json_file file = { .file = memory };
	struct json j = { &json_file_ops, &file };

	json_put_u64(&j, "n", value);
	fputs("; ", memory);
	json_write_u64(memory, value);
	fclose(memory);
	check(buf, expected);
}

static void test_signed(int64_t value, const char *expected)
{
	char buf[64] = "";
	FILE *memory = fmemopen(buf, sizeof(buf), "w");
	struct json_file file = { .file = memory };
	struct json j = { &json_file_ops, &file };

	json_put_s64(&j, "n", value);
	fclose(memory);
	check(buf, expected);
}

int main(void)
{
	test_unsigned(0, "\"n\": 0; 0");
	test_unsigned((UINT64_C(1) << 53) - 1,
		      "\"n\": 9007199254740991; 9007199254740991");
	test_unsigned(UINT64_C(1) << 53,
		      "\"n\": \"9007199254740992\"; \"9007199254740992\"");
	test_unsigned(UINT64_MAX, "\"n\": \"18446744073709551615\"; "
				  "\"18446744073709551615\"");
	test_signed(-1, "\"n\": -1");
	test_signed(-9007199254740991, "\"n\": -9007199254740991");
	test_signed(-9007199254740992, "\"n\": \"-9007199254740992\"");
	test_signed(INT64_MIN, "\"n\": \"-9223372036854775808\"");
	test_signed(INT64_MAX, "\"n\": \"9223372036854775807\"");
	return tap_done();
}
