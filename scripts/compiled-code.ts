import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What children start from, twice as quickly; a process that is killed leaves nothing there, so one ends by itself. */
export function keepCompiledCode(cache: string): void {
  process.env['NODE_COMPILE_CACHE'] = cache
  const open = JSON.stringify(fileURLToPath(new URL('../src/engine/open.ts', import.meta.url)))
  const code = `const { openEngine } = await import(${open}); await (await openEngine({ store: 'memory' })).close()`
  spawnSync(process.execPath, ['--input-type=module', '-e', code])
}
