/** The answers in the README are what its commands print, with the real model. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { modelFolder } from '../support/model.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'querent-readme-'))
  cpSync(join(root, 'examples/notes'), join(folder, 'notes'), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the README shows what its commands print over the example notes', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const shown = /```console\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const env = { QUERENT_EMBEDDER: 'local', QUERENT_EMBEDDER_FOLDER: await modelFolder() }
  const commands = shown.split('\n').filter(line => line.startsWith('$ querent '))
  expect(commands).toHaveLength(3)
  let printed = ''
  for (const command of commands) {
    const { stdout, stderr, status } = await querentHere(words(command.slice('$ querent '.length)), {
      cwd: folder,
      env,
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    printed += `${command}\n${stdout}\n`
  }
  expect(printed.trimEnd()).toBe(shown.trimEnd())
})

/** As a shell splits them, as far as single quotes go. */
function words(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
}
