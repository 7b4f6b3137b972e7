/** What pages of the guide name exists, and the other way round: commands, options, operations, settings, clients, findings. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadPlugins } from '../../src/engine/plugins.ts'
import { MCP_CLIENTS } from '../../src/interfaces/cli/commands/mcp-install.ts'
import { checkSettings } from '../../src/lenses/beliefs/beliefs-settings.ts'
import { BELIEFS_OPERATIONS } from '../../src/lenses/beliefs/operations/beliefs-operations.ts'
import { C64_OPERATIONS } from '../../src/lenses/c64/operations.ts'
import { CHROMA_OPERATIONS } from '../../src/lenses/chroma/operations.ts'
import { Extensions } from '../../src/lenses/chroma/profiles/query-profile.ts'
import { installPlugin, Profiles } from '../../src/lenses/chroma/profiles/registry.ts'
import { SETTING_KEYS } from '../../src/lenses/chroma/settings.ts'
import { COLLECTIONS_OPERATIONS } from '../../src/lenses/collections/operations.ts'
import { blocks, guidePage } from '../support/guide-page.ts'
import { querentHere, runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { MCP_ENV, mcpClient } from './mcp-client.ts'

/** Every help there is: of commands, and of the commands of groups. */
let helps: ReadonlyMap<string, string>
const namesIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}([a-z0-9-]+)(?= |$)/gm)].map(([, name = '']) => name)
beforeAll(async () => {
  using folder = tempFolder()
  const found = new Map<string, string>()
  const helpOf = async (words: readonly string[]): Promise<string> => {
    const { stdout } = await runInProcess([...words, '--help'], { workingFolder: folder.path })
    found.set(words.join(' '), stdout)
    return stdout
  }
  for (const name of namesIn((await helpOf([])).split('Commands:')[1]?.split('\n\n')[0] ?? '')) {
    if (name === 'help') continue
    for (const inner of namesIn((await helpOf([name])).split('Commands:')[1]?.split('\n\n')[0] ?? '')) {
      if (inner !== 'help') await helpOf([name, inner])
    }
  }
  helps = found
})

describe('the options', () => {
  // The page about operations builds a command of its own, that about the language of queries shows one as a word.
  const others = ['operations.md', 'query-language.md']
  const pages = readdirSync(new URL('../../docs/guide', import.meta.url)).filter(name => !others.includes(name))

  it.each(pages)('that %s names are those of commands (CO-069)', page => {
    const all = [...helps.values()].join('\n')
    // Options of other programs: of the agent that is started, of curl, npm and systemd.
    const prose = guidePage(page).replaceAll(/claude --agent.*|^.*(?:curl|npm|npx|journalctl|codex mcp).*$/gm, '')
    const named = [...prose.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([option]) => option)
    expect([...new Set(named)].filter(option => !all.includes(option))).toEqual([])
  })

  it.each([
    ['cli.md', '', '## Commands'],
    ['chroma.md', 'chroma', '## The command line'],
    ['context.md', 'context', '## The command line'],
  ])('%s has every command of "%s" in its table', (page, group, heading) => {
    const commands = [...helps.keys()].filter(name =>
      group === '' ? /^[a-z0-9]+$/.test(name) && helps.get(name)?.includes('Options:') : name.startsWith(`${group} `),
    )
    const table = guidePage(page).split(heading)[1]?.split('\n## ')[0] ?? ''
    const names = commands.map(name => name.split(' ').at(-1) ?? '')
    expect(names.length).toBeGreaterThanOrEqual(5)
    expect(names.filter(name => !new RegExp(`\`${name}[ \`]`).test(table))).toEqual([])
  })

  it.each([
    ['c64.md', 'c64', ''],
    ['collections.md', 'collections', '| Flag |'],
  ])('%s has every flag of its command (CO-069)', (page, command, table) => {
    const text = table === '' ? guidePage(page) : (guidePage(page).split(table)[1]?.split('\n\n')[0] ?? '')
    const own = [...(helps.get(command) ?? '').matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = '']) => flag)
    const shared = command === 'c64' ? ['--home', '--viewer', '--now'] : []
    expect(own.length).toBeGreaterThan(3)
    expect(own.filter(flag => !shared.includes(flag) && !text.includes(`\`${flag}`))).toEqual([])
  })
})

it('the lens that the guide builds has at most 60 lines (QE-020)', () => {
  expect((blocks(guidePage('lenses.md'), 'ts')[0] ?? '').trim().split('\n').length).toBeLessThanOrEqual(60)
})

it('the plug-in that the guide to query profiles shows loads (CQ-148)', async () => {
  using folder = tempFolder()
  writeFileSync(folder.file('shout.mjs'), blocks(guidePage('query-profiles.md'), 'js')[0] ?? '')
  const [profiles, extensions] = [new Profiles(), new Extensions()]
  const report = await loadPlugins({
    folder: folder.file('plugins'),
    trustFile: folder.file('trusted-plugins.json'),
    trustedFolder: folder.path,
    install: exported => installPlugin(exported, { profiles, extensions }),
  })
  expect(report.warnings).toEqual([])
  expect(profiles.names).toContain('shout')
})

describe('the names', () => {
  const named = (text: string, what: RegExp): readonly string[] =>
    [...new Set([...text.matchAll(what)].map(([, name = '']) => name))].sort()

  it.each<[string, string, RegExp, readonly { readonly name: string }[]]>([
    [
      'beliefs.md',
      '## Operations',
      /`((?:beliefs|trust|agents|federations|peers|nodes)\.[a-z_]+)`/g,
      BELIEFS_OPERATIONS,
    ],
    ['c64.md', '', /`(c64\.(?!md)[a-z_]+)`/g, C64_OPERATIONS],
    ['chroma.md', '## Operations', /`(chroma\.[a-z_]+)`/g, CHROMA_OPERATIONS],
    ['collections.md', '', /\b(collections\.(?!md)[a-z]+)/g, COLLECTIONS_OPERATIONS],
  ])('of %s are every operation of its lens, and no others (CO-069)', (page, part, what, operations) => {
    const text = part === '' ? guidePage(page) : (guidePage(page).split(part)[1]?.split('\n## ')[0] ?? '')
    expect(named(text, what)).toEqual(operations.map(({ name }) => name).sort())
  })

  it('of settings are every setting of chroma with its variable, and every setting of beliefs', () => {
    const chroma = guidePage('chroma.md')
    expect(named(chroma, /^\| `([a-z]+\.[a-z_]+)` /gm)).toEqual(SETTING_KEYS.map(({ name }) => name).sort())
    const variables = SETTING_KEYS.map(({ name }) => `CHROMA_${name.replace('.', '_').toUpperCase()}`)
    expect(named(chroma, /`(CHROMA_[A-Z_]+)`/g)).toEqual(variables.sort())
    const beliefs = guidePage('beliefs-settings.md').split('\n## Settings')[1] ?? ''
    const settings = [...beliefs.matchAll(/^\| `([a-z_]+)` /gm)].map(([, name]) => name)
    expect(() => checkSettings({ nonsense: 1 })).toThrow(`one of ${settings.join(', ')}, got`)
  })

  it('of clients are all that `mcp install` knows', () => {
    const page = guidePage('assistants.md')
    expect(MCP_CLIENTS.filter(({ name }) => !page.includes(`\`${name}\``))).toEqual([])
  })

  it('of the skill, its flags, the agent and the collections stand in the page (CO-069)', () => {
    const page = guidePage('collections.md')
    expect(page).toMatch(
      /^\| `chroma-query` \| `\/chroma-query "[^"]+" \[--days N\] \[--collection items\\\|analysis\\\|both\]` \|/m,
    )
    expect(page).toContain('claude --agent chroma-agent')
    for (const collection of ['items', 'analysis']) expect(page).toMatch(new RegExp(`^- \`${collection}\`: .{20}`, 'm'))
  })

  it('of findings are every finding of the doctor, and no others', () => {
    const explained = [...guidePage('when-something-goes-wrong.md').matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/`([a-z ]+?)(?: <\w+>)?`/g)].map(([, name]) => name),
    )
    const written = [
      /\bfinding\(\s*'([a-z ]+)'/g,
      /\bname: '([a-z ]+)',\n {2}sound/g,
      /PAGES = '(pages)'/g,
      /check: '(file)'/g,
      /`(snapshot|index|lens|job) \$\{/g,
      /looked(?:Long)?\('(home|file|pages|store)'/g,
    ]
    const sources = ['engine/care', 'store/care'].flatMap(folder => {
      const at = new URL(`../../src/${folder}/`, import.meta.url)
      return readdirSync(at).map(name => readFileSync(new URL(name, at), 'utf8'))
    })
    const found = sources.flatMap(text => written.flatMap(name => named(text, name)))
    expect([...new Set(explained)].sort()).toEqual([...new Set(found)].sort())
  })
})

it('the guide to MCP shows an error as it is reported', async () => {
  using folder = tempFolder()
  await querentHere(['init', '--home', folder.file('store')], { cwd: folder.path, env: MCP_ENV })
  const client = await mcpClient(folder.path, ['--home', folder.file('store')])
  const { content } = await client.callTool({ name: 'get', arguments: { id: 'nothing' } })
  const reported = content.map(part => (part.type === 'text' ? part.text : '')).join('\n')
  expect(`${reported}\n`).toBe(blocks(guidePage('mcp.md'), 'text')[0])
  await client.close()
})
