/** What makes the command line comfortable: completion, settings, and the next page. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Run } from '../support/command.ts'
import { runInProcess } from '../support/in-process.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

let folder: TempFolder
beforeAll(async () => {
  vi.stubEnv('QUERENT_EMBEDDER', 'none')
  folder = tempFolder()
  vi.stubEnv('QUERENT_HOME', join(folder.path, '.querent'))
  for (let at = 1; at <= 5; at += 1) writeFileSync(join(folder.path, `fox${at}.md`), `# Fox ${at}\n\nThe fox sleeps.\n`)
  expect(await run(['add', 'fox1.md', 'fox2.md', 'fox3.md', 'fox4.md', 'fox5.md'])).toMatchObject({ status: 0 })
})
afterAll(() => {
  vi.unstubAllEnvs()
  folder[Symbol.dispose]()
})

function run(args: readonly string[], more: { env?: Record<string, string>; terminal?: boolean } = {}): Promise<Run> {
  const { env = {}, terminal } = more
  const own = { QUERENT_HOME: join(folder.path, '.querent'), NO_COLOR: '1', ...env }
  return runInProcess(args, { workingFolder: folder.path, terminal, env: own })
}

describe('querent completion', () => {
  it('prints a script with which bash completes commands, subcommands and flags', async () => {
    const { status, stdout: script } = await run(['completion', 'bash'])
    expect(status).toBe(0)
    const complete = (...words: readonly string[]): readonly string[] => {
      const line = words.map(word => `'${word}'`).join(' ')
      const ask = `COMP_WORDS=(querent ${line}); COMP_CWORD=${words.length}; _querent; printf '%s\\n' "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', `${script}\n${ask}`], { encoding: 'utf8' })
        .trim()
        .split('\n')
    }
    expect(complete('que')).toEqual(['query'])
    expect(complete('query', '--lim')).toEqual(['--limit'])
    expect(complete('beliefs', 'contr')).toEqual(['contradictions'])
    expect(complete('trust', 'set', 'ben', '0.8', '--dom')).toEqual(['--domain'])
    expect(complete('mcp', 'unin')).toEqual(['uninstall'])
  })

  it('prints scripts for zsh and fish, with the same commands', async () => {
    expect((await run(['completion', 'zsh'])).stdout).toMatch(/^#compdef querent\n[\s\S]*' trust set'\) words='/)
    const { stdout } = await run(['completion', 'fish'])
    expect(stdout).toContain("-f -a trust -d 'whom you trust, how far, and in which domains'\n")
    expect(stdout).toMatch(/__fish_seen_subcommand_from trust; and not __fish_seen_subcommand_from .*' -f -a set /)
    expect(await run(['completion', 'cmd'])).toMatchObject({ status: 2, stdout: '' })
  })
})

describe('querent config', () => {
  const file = () => join(folder.path, '.querent', 'config.json')

  it('sets, shows and takes out a setting, and leaves the others as they are written', async () => {
    writeFileSync(file(), '{ "live":   {"poll_ms": 50} }\n')
    expect(await run(['config', 'get', 'durability'])).toMatchObject({ status: 0, stdout: 'normal\n' })
    expect(await run(['config', 'set', 'durability', 'full'])).toMatchObject({ status: 0 })
    expect(await run(['config', 'get', 'durability'])).toMatchObject({ stdout: 'full\n' })
    expect(await run(['config', 'set', 'lenses.c64.limit', '3'])).toMatchObject({ status: 0 })
    expect(readFileSync(file(), 'utf8')).toContain('"live":   {"poll_ms": 50}')
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const { stdout } = await run(['config', 'list', '--json'])
    const { settings } = JSON.parse(stdout)
    expect(settings).toContainEqual(expect.objectContaining({ name: 'durability', value: 'full', default: 'normal' }))
    expect(settings).toContainEqual(expect.objectContaining({ name: 'lenses.c64.limit', value: 3 }))
    expect((await run(['config', 'list'])).stdout).toMatch(/\nlive\.poll_ms +50 +\d+ /)
    for (const name of ['durability', 'lenses.c64.limit', 'lenses', 'live']) {
      expect(await run(['config', 'unset', name])).toMatchObject({ status: 0 })
    }
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({})
  })

  it.each([
    [['set', 'durability', 'sometimes'], 2, /durability: expected/],
    [['set', 'colour', 'red'], 2, /colour: .*no such field/],
    [['set', 'lenses.c64.limit', 'many'], 2, /limit/],
    [
      ['set', 'embedder', 'ollama'],
      2,
      /^querent: embedder: expected an object \(did you mean embedder\.provider\?\), got "ollama"\n/,
    ],
    [['set', 'live', '3'], 2, /^querent: live: expected an object \(its settings are poll_ms/],
    [['get', 'lenses.c64.limit'], 1, /it is not set/],
  ])('refuses %j, and the file stays as it was', async (args, status, message) => {
    const before = readFileSync(file(), 'utf8')
    const { stderr, ...rest } = await run(['config', ...args])
    expect(rest).toEqual({ status, stdout: '' })
    expect(stderr).toMatch(message)
    expect(readFileSync(file(), 'utf8')).toBe(before)
  })

  it('is for the local owner', async () => {
    expect(await run(['config', 'list'], { env: { QUERENT_VIEWER: 'ana' } })).toMatchObject({ status: 1, stdout: '' })
  })
})

describe('the next page', () => {
  const ids = (stdout: string) => [...stdout.matchAll(/^(\d)\. Fox \d/gm)].map(match => match[1])

  it.each([true, false])('comes with --more, and no cursor is printed (terminal: %s)', async terminal => {
    const first = await run(['query', 'fox', '--limit', '2'], { terminal })
    expect(first.stdout).toMatch(/\nmore: --more\n$/)
    expect(first.stdout).not.toContain('--cursor')
    const pages = [first.stdout]
    while (pages.at(-1)?.includes('--more')) pages.push((await run(['query', '--more'], { terminal })).stdout)
    expect(pages.flatMap(ids)).toEqual(['1', '2', '3', '4', '5'])
    expect(await run(['query', '--more'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^querent: --more: the last answer of `querent query` had no further page/),
    })
  })

  it('is a cursor in JSON, and after a page that was asked for by its cursor', async () => {
    const { cursor } = JSON.parse((await run(['query', 'fox', '--limit', '2', '--json'])).stdout)
    const second = await run(['query', 'fox', '--limit', '2', '--cursor', cursor], { terminal: true })
    expect(ids(second.stdout)).toEqual(['3', '4'])
    expect(second.stdout).toMatch(/\nmore: --cursor \S+\n$/)
  })

  it('follows a stream, and an answer in Markdown', async () => {
    expect((await run(['query', 'fox', '--limit', '2', '--format', 'md'])).stdout).toContain('\n- more: `--more`\n')
    expect((await run(['query', 'fox', '--limit', '2', '--stream'])).stderr).toMatch(/\nmore: --more\n$/)
    expect(ids((await run(['query', '--more'])).stdout)).toEqual(['3', '4'])
  })

  it('is that of the command and the viewer who had the page before', async () => {
    await run(['list', '--limit', '2'])
    expect((await run(['query', '--more'])).status).toBe(1)
    expect((await run(['list', '--more'], { env: { QUERENT_VIEWER: 'ana' } })).status).toBe(1)
    expect((await run(['list', '--more'])).stdout).toMatch(/\n2 of 5\nmore: /)
    expect(statSync(join(folder.path, '.querent', 'last-page.json')).mode & 0o777).toBe(0o600)
  })

  it('needs no question, which a first page needs', async () => {
    expect(await run(['query'])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/missing required argument 'words'/),
    })
  })
})

describe('the lenses of a command line', () => {
  it('are listed all, as HTTP and MCP list them', async () => {
    const { lenses } = JSON.parse((await run(['lenses', '--json'])).stdout)
    expect(lenses.map(({ name }: { name: string }) => name)).toEqual(
      JSON.parse((await run(['call', 'lenses'])).stdout).lenses.map(({ name }: { name: string }) => name),
    )
    expect(lenses.length).toBe(7)
  })

  it('cannot be set as the default one where there is none of the name', async () => {
    const { status, stderr } = await run(['config', 'set', 'default_lens', 'foo'])
    expect([status, stderr]).toEqual([2, expect.stringMatching(/default_lens: expected one of default, .*"foo"/)])
    const file = join(folder.path, '.querent', 'config.json')
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, '{"default_lens": "foo"}')
    expect((await run(['status'])).stderr).toContain('default_lens: there is no lens "foo"')
    writeFileSync(file, before)
  })
})

describe('a store above the working folder', () => {
  it('is named by a command that stores something in it, and by no other', async () => {
    const inner = join(folder.path, 'inner')
    mkdirSync(inner)
    writeFileSync(join(inner, 'owl.md'), '# Owl\n\nThe owl hunts.\n')
    const from = (workingFolder: string, args: readonly string[]) =>
      runInProcess(args, { workingFolder, env: { NO_COLOR: '1', QUERENT_HOME: '' } })
    const store = join(folder.path, '.querent')
    expect((await from(inner, ['add', 'owl.md'])).stderr).toContain(`querent: storing in ${store}; `)
    expect((await from(inner, ['query', 'owl'])).stderr).not.toContain(store)
    expect((await from(folder.path, ['add', 'inner'])).stderr).not.toContain(store)
  })
})
