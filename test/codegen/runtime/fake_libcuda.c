// SPDX-License-Identifier: Apache-2.0
// A driver without a GPU, compiled against the real header: it records its calls, takes parameters
// as cuda.h declares them, and does nothing. `fake_fail` makes a function fail.
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char log_text[1 << 20];
static size_t log_end;
static char failing[64];
static CUresult failure;
static int quiet, driver_version = 13000, nodes, contexts, active_clusters = 16;

const char *fake_log(void) { return log_text; }
void fake_reset(void) { log_end = 0, log_text[0] = 0, failing[0] = 0, driver_version = 13000, active_clusters = 16; }
void fake_quiet(int on) { quiet = on; }
void fake_clusters(int active) { active_clusters = active; }
void fake_version(int version) { driver_version = version; }
void fake_fail(const char *function, int status) {
  snprintf(failing, sizeof failing, "%s", function), failure = status;
}

static CUresult note(const char *function, const char *format, ...) {
  if (quiet) return CUDA_SUCCESS;
  va_list arguments;
  va_start(arguments, format);
  log_end += snprintf(log_text + log_end, sizeof log_text - log_end, "%s ", function);
  log_end += vsnprintf(log_text + log_end, sizeof log_text - log_end, format, arguments);
  log_end += snprintf(log_text + log_end, sizeof log_text - log_end, "\n");
  va_end(arguments);
  return strcmp(failing, function) ? CUDA_SUCCESS : failure;
}

// Bytes in hexadecimal.
static const char *hex(const void *data, size_t size) {
  static char text[1 << 16];
  for (size_t n = 0; n < size; ++n) sprintf(text + 2 * n, "%02x", ((const unsigned char *)data)[n]);
  return text;
}

// The values of a kernel's parameters. A driver copies each to its place in the kernel.
static const char *values(CUfunction function, void **parameters, void **extra) {
  static char text[4096], *end;
  if (!parameters || extra) return "malformed";
  const int maps = (size_t)function == 0xf000000000000006;  // `mapped`
  end = text;
  for (int n = 0; n < maps + 2; ++n)
    end += sprintf(end, "%s", hex(parameters[n], n < maps ? sizeof(CUtensorMap) : 8));
  return text;
}

// The newest of the present versions of a function.
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *found) {
  static const char *const versions[] = {"_v3", "_v2", ""};
  static Dl_info self;
  if (!self.dli_fname) dladdr((void *)fake_log, &self);
  void *library = dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  *function = 0;
  for (int n = 0; n < 3 && !*function; ++n) {
    char name[128];
    snprintf(name, sizeof name, "%s%s", symbol, versions[n]);
    *function = dlsym(library, name);
  }
  dlclose(library);
  if (found) *found = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuInit(unsigned flags) { return note("cuInit", ""); }
CUresult cuDriverGetVersion(int *version) { return *version = driver_version, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { return *device = ordinal, CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = (CUcontext)(0xc0000000c0000000 + device);
  return note("cuDevicePrimaryCtxRetain", "%d", device);
}
CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return ++contexts, note("push", "%p", (void *)context);
}
CUresult cuCtxPopCurrent_v2(CUcontext *context) { return --contexts, note("pop", ""); }
CUresult cuGetErrorName(CUresult error, const char **name) {
  return *name = error == 1 ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_OTHER", CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char **text) {
  return *text = error == 1 ? "invalid argument" : "other", CUDA_SUCCESS;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  *module = (CUmodule)0x6d00000000000000;
  return note("cuModuleLoadData", "%s", hex(image, 4));
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  *function = (CUfunction)(0xf000000000000000 + strlen(name));
  return note("cuModuleGetFunction", "%p %s", (void *)module, name);
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  return *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 42 : 7, CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  const char *name =
      attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ? "dynamic shared" : "?";
  return note("cuFuncSetAttribute", "%p %s %d", (void *)function, name, value);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **parameters,
                          void **extra) {
  if (quiet) return CUDA_SUCCESS;
  return note("cuLaunchKernelEx",
              "%p grid %u %u %u block %u %u %u shared %u stream %p attributes %u %s",
              (void *)function, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
              c->blockDimZ, c->sharedMemBytes, (void *)c->hStream, c->numAttrs,
              values(function, parameters, extra));
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *c) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  *clusters = active_clusters;
  return note("clusters", "%p grid %u block %u shared %u attributes %u", (void *)function,
              c->gridDimX, c->blockDimX, c->sharedMemBytes, c->numAttrs);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int threads, size_t dynamic_bytes) {
  if (!contexts) return CUDA_ERROR_INVALID_CONTEXT;
  *blocks = 3;
  return note("blocks", "%p threads %d shared %zu", (void *)function, threads, dynamic_bytes);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return note("memset 1", "%llx %x %zu stream %p", to, value, count, (void *)stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return note("memset 2", "%llx %x %zu stream %p", to, value, count, (void *)stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return note("memset 4", "%llx %x %zu stream %p", to, value, count, (void *)stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  return note("memset rows", "%llx pitch %zu %x %zu x %zu stream %p", to, pitch, value, width,
              height, (void *)stream);
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status,
                                   cuuint64_t *number, CUgraph *graph, const CUgraphNode **nodes,
                                   const CUgraphEdgeData **edges, size_t *count) {
  *status = stream ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  *number = 0xca00000000000001;
  return note("captured", "%p %d", (void *)stream, !graph && !nodes && !edges && !count);
}
CUresult cuStreamSynchronize(CUstream stream) { return note("wait", "%p", (void *)stream); }
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *dim, const cuuint64_t *strides,
                                const cuuint32_t *box, const cuuint32_t *steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill) {
  if ((size_t)map % _Alignof(CUtensorMap)) return CUDA_ERROR_MISALIGNED_ADDRESS;
  memset(map, 0xab, sizeof *map);
  char text[512], *end = text;
  for (unsigned n = 0; n < rank; ++n)
    end += sprintf(end, " [%llu %llu %u %u]", (unsigned long long)dim[n],
                   n + 1 < rank ? (unsigned long long)strides[n] : 0ull, box[n], steps[n]);
  return note("cuTensorMapEncodeTiled", "type %d rank %u at %p%s interleave %d swizzle %d l2 %d fill %d",
              type, rank, address, text, interleave, swizzle, l2, fill);
}
static CUgraphNode last_node(void) { return (CUgraphNode)(0x7000000000000000 + nodes); }
CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  *graph = (CUgraph)0x6000000000000001, nodes = 0;
  return note("cuGraphCreate", "%u", flags);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *p) {
  CUresult status = note("cuGraphInstantiate", "%p %llu", (void *)graph, (unsigned long long)p->flags);
  if (status) p->hErrNode_out = status == CUDA_ERROR_OUT_OF_MEMORY ? 0 : last_node();
  if (status) return p->result_out = CUDA_GRAPH_INSTANTIATE_ERROR, status;
  return *exec = (CUgraphExec)0xe000000000000001, status;
}
static CUresult kernel_node(const char *what, CUgraphNode node, const CUgraphNode *before, size_t count,
                            const CUDA_KERNEL_NODE_PARAMS *p) {
  return note(what, "%p after %p %p grid %u %u %u block %u %u %u shared %u %s", (void *)node,
              count ? (void *)before[0] : 0, (void *)p->func, p->gridDimX, p->gridDimY, p->gridDimZ,
              p->blockDimX, p->blockDimY, p->blockDimZ, p->sharedMemBytes,
              p->kern || p->ctx ? "malformed" : values(p->func, p->kernelParams, p->extra));
}
static CUresult memset_node(const char *what, CUgraphNode node, const CUgraphNode *before,
                            size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
  return note(what, "%p after %p %llx pitch %zu %x size %u %zu x %zu in %p", (void *)node,
              count ? (void *)before[0] : 0, p->dst, p->pitch, p->value, p->elementSize, p->width,
              p->height, (void *)context);
}
static CUgraphNode new_node(void) { return ++nodes, last_node(); }
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *p) {
  return *node = new_node(), kernel_node("add kernel", *node, before, count, p);
}
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
  return *node = new_node(), memset_node("add memset", *node, before, count, p, context);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *p) {
  return kernel_node("set kernel", node, 0, 0, p);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context) {
  if (p->height > 1) return CUDA_ERROR_INVALID_VALUE;  // as documented: 1-dimensional ones alone
  return memset_node("set memset", node, 0, 0, p, context);
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return note("cuGraphLaunch", "%p stream %p", (void *)exec, (void *)stream);
}
CUresult cuGraphExecDestroy(CUgraphExec exec) { return CUDA_SUCCESS; }
CUresult cuGraphDestroy(CUgraph graph) { return CUDA_SUCCESS; }
