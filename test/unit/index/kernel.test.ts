import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'kernel-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the committed vector kernel', () => {
  it('is what its sources compile to, byte for byte', () => {
    const built = join(folder, 'kernel.wasm')
    const { status, stderr } = spawnSync(process.execPath, [at('scripts/build-kernel.mjs'), built], {
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    const hash = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
    expect(hash(at('src/index/kernel/kernel.wasm'))).toBe(hash(built))
  })

  it('needs nothing but a memory, and no instruction that Node 22 lacks', () => {
    const { status, stdout } = spawnSync(
      process.execPath,
      [
        '-p',
        `const module = new WebAssembly.Module(require('node:fs').readFileSync(process.argv[1]));
         JSON.stringify(WebAssembly.Module.imports(module))`,
        at('src/index/kernel/kernel.wasm'),
      ],
      { encoding: 'utf8' },
    )
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual([{ module: 'env', name: 'memory', kind: 'memory' }])
  })
})
