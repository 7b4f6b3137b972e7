/**
 * Reads every file under some folders and says which of them hold which bytes. A process of its own: were the process
 * that has a store open to open and close its file, the system would take the store's locks from it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { BytesFound, FindBytes } from './find-bytes.ts'

const { folders, needles } = JSON.parse(await text(process.stdin)) as FindBytes
const found: BytesFound[] = []
for (const folder of folders) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name)
    const bytes = contentOf(file)
    for (const [what, hex] of Object.entries(needles)) {
      if (bytes?.includes(Buffer.from(hex, 'hex'))) found.push({ file: name, what })
    }
  }
}
process.stdout.write(JSON.stringify(found))

/** Undefined for a folder, and for what has gone meanwhile. */
function contentOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
