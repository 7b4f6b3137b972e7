/** `querent serve <paths> --open`, as a process of its own: files in, a page, a browser at it. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { querentHere } from '../support/in-process.ts'
import { type Serving, startServer } from '../support/serving.ts'
import { tempFolder } from '../support/temp-folder.ts'

let folder: ReturnType<typeof tempFolder>
const servers: Serving[] = []
beforeEach(() => {
  folder = tempFolder()
  mkdirSync(join(folder.path, 'notes'))
  writeFileSync(join(folder.path, 'notes/pets.md'), '# Animals\n\nThe kitten sleeps on the sofa.\n')
})
afterEach(async () => {
  for (const server of servers.splice(0)) await server.end()
  folder[Symbol.dispose]()
})

async function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Serving> {
  const server = await startServer(['serve', ...args], folder.path, env)
  servers.push(server)
  return server
}

async function ask(server: Serving, text: string): Promise<{ items: { id: string; collection: string }[] }> {
  const reply = await fetch(`${server.url}/v1/query`, { method: 'POST', body: JSON.stringify({ text, explain: true }) })
  expect(reply.status).toBe(200)
  return (await reply.json()) as { items: { id: string; collection: string }[] }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise(resolve => setTimeout(resolve, 20))
}

it('makes a store where there is none, adds what it is given, says what came, and answers over it', async () => {
  const server = await serve(['notes'])
  expect(server.stderr()).toContain('1 added, 0 updated, 0 unchanged')
  const { items } = await ask(server, 'kitten')
  expect(items).toMatchObject([{ id: 'notes/pets.md', explanation: expect.anything() }])
  expect(existsSync(join(folder.path, '.querent'))).toBe(true)
})

it('finds at the next start what changed since', async () => {
  expect(await (await serve(['notes'])).end()).toBe(0)
  servers.length = 0
  writeFileSync(join(folder.path, 'notes/pets.md'), '# Animals\n\nThe parrot talks all night.\n')
  const server = await serve(['notes'])
  expect(server.stderr()).toContain('0 added, 1 updated')
  expect((await ask(server, 'parrot')).items).toHaveLength(1)
})

it('adds to the collection that is named', async () => {
  const server = await serve(['notes/pets.md', '--collection', 'animals'])
  expect((await ask(server, 'kitten')).items).toMatchObject([{ collection: 'animals' }])
})

it.each([
  [['notes', 'nots'], 'paths.1: expected the path of an existing file or folder, got "nots"'],
  [['notes', '--workers', '2'], '--workers: expected 1 where paths are given'],
  [['--collection', 'notes'], '--collection: expected paths to add to it, got "notes"'],
])('refuses %j before anything is made', async (args, message) => {
  const { status, stdout, stderr } = await querentHere(['serve', ...args], { cwd: folder.path })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(existsSync(join(folder.path, '.querent'))).toBe(false)
})

it.each([
  ['add', 'nots'],
  ['add', '--code', 'nots'],
])('refuses %j of a path that does not exist before a store is made', async (...args) => {
  const { status, stdout, stderr } = await querentHere(args, { cwd: folder.path })
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toContain('paths.0: expected the path of an existing file or folder')
  expect(existsSync(join(folder.path, '.querent'))).toBe(false)
})

it('serves what it could read when a file among them cannot be', async () => {
  writeFileSync(join(folder.path, 'notes/broken.jsonl'), 'no JSON\n')
  const server = await serve(['notes'])
  expect(server.stderr()).toContain('1 failed')
  expect((await ask(server, 'kitten')).items).toHaveLength(1)
})

// Where the opener is a shell script that knows BROWSER.
it.skipIf(process.platform !== 'linux')('opens the browser at the address that it prints', async () => {
  const browser = join(folder.path, 'browser')
  const seen = join(folder.path, 'seen')
  writeFileSync(browser, `#!/bin/sh\nprintf '%s\\n' "$*" > '${seen}.part' && mv '${seen}.part' '${seen}'\n`)
  chmodSync(browser, 0o755)
  const server = await serve(['notes', '--open'], { BROWSER: browser })
  await until(() => existsSync(seen))
  expect(readFileSync(seen, 'utf8')).toBe(`${server.url}\n`)
})

it.skipIf(process.platform !== 'linux')('says in a line where no browser can be opened, and serves', async () => {
  const server = await serve(['notes', '--open'], { PATH: join(folder.path, 'notes') })
  const line = `querent: no browser could be opened; the page is at ${server.url}\n`
  await until(() => server.stderr().includes(line))
  expect((await ask(server, 'kitten')).items).toHaveLength(1)
})
