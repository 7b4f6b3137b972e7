/** A real folder for one test, gone with it. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export function tempFolder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'querent-ingest-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFiles(folder, files)
  return folder
}

export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    const absolute = join(folder, path)
    mkdirSync(dirname(absolute), { recursive: true })
    writeFileSync(absolute, content)
  }
}

/** Runs the body while nobody, root included, may open the path; the folder above stays readable. */
export async function locked<T>(path: string, body: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  const nobody = 65_534
  chmodSync(dirname(path), 0o755)
  chmodSync(path, 0)
  if (isRoot) process.seteuid?.(nobody)
  try {
    return await body()
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(path, 0o755)
  }
}
