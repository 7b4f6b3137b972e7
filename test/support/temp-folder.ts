/** Folders for tests that need real files. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempFolder extends Disposable {
  readonly path: string
  file(name: string): string
}

/** Gone with everything in it when disposed of. */
export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'querent-test-'))
  return {
    path,
    file: name => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
