/** The part of `npm run demo` that asks about the project's own code, through the lens context. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.ts'

/** `folder`: where the store of the demo is; code belongs to the folder of its store, so it is copied there. */
export function demoContext(root: string, folder: string): void {
  console.log("\n# The lens context: this project's own code as concepts and links…")
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true })
  run('context', 'index', join(folder, 'src'), '--no-wait')
  console.log('\n# … a name, what it hangs together with, and as much of it as fits…')
  run('context', 'query', 'chunkContent', '-m', 'exact', '-l', '6', '--max-tokens', '600')
  run('context', 'query', 'word index', '-l', '6')
  console.log('\n# … and who calls it.')
  run('context', 'callers', 'chunkContent')
}
