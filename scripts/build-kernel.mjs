// Compiles src/index/kernel/kernel.ts (AssemblyScript) to kernel.wasm beside it, or to the path given. The result is
// committed, so nobody needs this to use querent; equal sources give equal bytes, which a test checks.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = path => fileURLToPath(new URL(`../${path}`, import.meta.url))
const target = process.argv[2] ?? at('src/index/kernel/kernel.wasm')

// The host lays out all memory: no runtime, no allocator, nothing of the compiler's lies in it.
const options = ['-O3', '--noAssert', '--runtime', 'stub', '--importMemory', '--noExportMemory', '--enable', 'simd']
const compiler = at('node_modules/assemblyscript/bin/asc.js')
const { status } = spawnSync(process.execPath, [compiler, at('src/index/kernel/kernel.ts'), ...options, '-o', target], {
  stdio: ['ignore', 2, 2],
})
if (status !== 0) process.exit(status ?? 1)

const bytes = readFileSync(target)
console.log(`${target} ${bytes.byteLength} bytes sha256 ${createHash('sha256').update(bytes).digest('hex')}`)
