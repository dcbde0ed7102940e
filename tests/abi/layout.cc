// Sizes and offsets of everything that crosses the plugin and application interfaces. Binaries
// built years apart meet here: a number may be added, none may change.
//
// Two columns: 64-bit, and 32-bit with 8-byte aligned int64_t and double (ARM, WebAssembly).
#include <stddef.h>

#include "foveal/foveal.h"

#define SIZE(type, size64, size32) \
  static_assert(sizeof(type) == (sizeof(void*) == 8 ? size64 : size32), "append only: see ABI.md")
#define AT(type, field, at64, at32)                                          \
  static_assert(offsetof(type, field) == (sizeof(void*) == 8 ? at64 : at32), \
                "append only: see ABI.md")

SIZE(fv_abi, 8, 8);  // types.h
AT(fv_abi, struct_size, 0, 0);
AT(fv_abi, abi_major, 4, 4);
AT(fv_abi, abi_minor, 6, 6);

SIZE(fv_layout, 8, 8);  // types.h
AT(fv_layout, id, 0, 0);
AT(fv_layout, block, 4, 4);

SIZE(fv_tensor, 112, 104);  // types.h
AT(fv_tensor, abi, 0, 0);
AT(fv_tensor, name, 8, 8);
AT(fv_tensor, data, 16, 12);
AT(fv_tensor, bytes, 24, 16);
AT(fv_tensor, dtype, 32, 24);
AT(fv_tensor, rank, 36, 28);
AT(fv_tensor, dims, 40, 32);
AT(fv_tensor, layout, 104, 96);

SIZE(fv_value_info, 120, 112);  // plugin.h
AT(fv_value_info, abi, 0, 0);
AT(fv_value_info, name, 8, 8);
AT(fv_value_info, data, 16, 12);
AT(fv_value_info, bytes, 24, 16);
AT(fv_value_info, dtype, 32, 24);
AT(fv_value_info, rank, 36, 28);
AT(fv_value_info, dims, 40, 32);
AT(fv_value_info, layout, 104, 96);
AT(fv_value_info, slot, 112, 104);
AT(fv_value_info, flags, 116, 108);

SIZE(fv_node_info, 40, 32);  // plugin.h
AT(fv_node_info, abi, 0, 0);
AT(fv_node_info, name, 8, 8);
AT(fv_node_info, op, 16, 12);
AT(fv_node_info, version, 24, 16);
AT(fv_node_info, inputs, 28, 20);
AT(fv_node_info, outputs, 32, 24);
AT(fv_node_info, posts, 36, 28);

SIZE(fv_attr, 48, 40);  // plugin.h
AT(fv_attr, abi, 0, 0);
AT(fv_attr, type, 8, 8);
AT(fv_attr, reserved, 12, 12);
AT(fv_attr, count, 16, 16);
AT(fv_attr, ints, 24, 24);
AT(fv_attr, floats, 32, 28);
AT(fv_attr, string, 40, 32);

SIZE(fv_post, 24, 20);  // plugin.h
AT(fv_post, abi, 0, 0);
AT(fv_post, node, 8, 8);
AT(fv_post, chain_input, 16, 12);
AT(fv_post, reserved, 20, 16);

SIZE(fv_host, 168, 88);  // plugin.h
AT(fv_host, abi, 0, 0);
AT(fv_host, alloc, 8, 8);
AT(fv_host, dealloc, 16, 12);
AT(fv_host, log, 24, 16);
AT(fv_host, status_new, 32, 20);
AT(fv_host, node_info, 40, 24);
AT(fv_host, node_input, 48, 28);
AT(fv_host, node_output, 56, 32);
AT(fv_host, node_attr, 64, 36);
AT(fv_host, node_post, 72, 40);
AT(fv_host, value_info, 80, 44);
AT(fv_host, segment_size, 88, 48);
AT(fv_host, segment_node, 96, 52);
AT(fv_host, segment_threads, 104, 56);
AT(fv_host, packed, 112, 60);
AT(fv_host, parallel_for, 120, 64);
AT(fv_host, pool_threads, 128, 68);
AT(fv_host, trace_begin, 136, 72);
AT(fv_host, trace_end, 144, 76);
AT(fv_host, cache_get, 152, 80);
AT(fv_host, cache_put, 160, 84);

SIZE(fv_device_info, 400, 400);  // plugin.h
AT(fv_device_info, abi, 0, 0);
AT(fv_device_info, name, 8, 8);
AT(fv_device_info, detail, 72, 72);
AT(fv_device_info, reason, 200, 200);
AT(fv_device_info, score, 392, 392);
AT(fv_device_info, flags, 396, 396);

SIZE(fv_support, 232, 232);  // plugin.h
AT(fv_support, abi, 0, 0);
AT(fv_support, supported, 8, 8);
AT(fv_support, in_place, 12, 12);
AT(fv_support, in_layout, 16, 16);
AT(fv_support, out_layout, 24, 24);
AT(fv_support, cost_us, 32, 32);
AT(fv_support, reason, 40, 40);

SIZE(fv_program_info, 16, 16);  // plugin.h
AT(fv_program_info, abi, 0, 0);
AT(fv_program_info, workspace, 8, 8);

SIZE(fv_run, 40, 24);  // plugin.h
AT(fv_run, abi, 0, 0);
AT(fv_run, buffers, 8, 8);
AT(fv_run, workspace, 16, 12);
AT(fv_run, pool, 24, 16);
AT(fv_run, trace, 32, 20);

SIZE(fv_option, 16, 8);  // plugin.h
AT(fv_option, key, 0, 0);
AT(fv_option, value, 8, 4);

SIZE(fv_plugin_api, 176, 92);  // plugin.h
AT(fv_plugin_api, abi, 0, 0);
AT(fv_plugin_api, name, 8, 8);
AT(fv_plugin_api, version, 16, 12);
AT(fv_plugin_api, vendor, 24, 16);
AT(fv_plugin_api, open, 32, 20);
AT(fv_plugin_api, close, 40, 24);
AT(fv_plugin_api, device_count, 48, 28);
AT(fv_plugin_api, device_info, 56, 32);
AT(fv_plugin_api, backend_create, 64, 36);
AT(fv_plugin_api, backend_destroy, 72, 40);
AT(fv_plugin_api, supports, 80, 44);
AT(fv_plugin_api, fuses, 88, 48);
AT(fv_plugin_api, compile, 96, 52);
AT(fv_plugin_api, program_info, 104, 56);
AT(fv_plugin_api, program_destroy, 112, 60);
AT(fv_plugin_api, run, 120, 64);
AT(fv_plugin_api, resume, 128, 68);
AT(fv_plugin_api, buffer_new, 136, 72);
AT(fv_plugin_api, buffer_free, 144, 76);
AT(fv_plugin_api, buffer_write, 152, 80);
AT(fv_plugin_api, buffer_read, 160, 84);
AT(fv_plugin_api, extension, 168, 88);

SIZE(fv_session_options, 24, 20);  // foveal.h
AT(fv_session_options, abi, 0, 0);
AT(fv_session_options, devices, 8, 8);
AT(fv_session_options, threads, 16, 12);
AT(fv_session_options, flags, 20, 16);

SIZE(fv_named_attr, 56, 48);  // foveal.h
AT(fv_named_attr, name, 0, 0);
AT(fv_named_attr, attr, 8, 8);
