/** Makes the pages of docs/reference from the code: `npm run reference`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { referencePages, root } from './reference/pages.ts'

for (const [name, text] of await referencePages()) {
  const file = `${root}${name}`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  process.stdout.write(`${name}: ${text.split('\n').length - 1} lines\n`)
}
