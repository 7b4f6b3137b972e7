/** The plugin folder against the rules of its formats, and every command that it names, run. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { querent } from '../support/command.ts'
import { shellIn } from '../support/guide-page.ts'
import { runInProcess } from '../support/in-process.ts'
import { tempFolder } from '../support/temp-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const plugin = join(root, 'plugin')
const read = (path: string): string => readFileSync(join(plugin, path), 'utf8')
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const skills = readdirSync(join(plugin, 'skills'))

// The rules of code.claude.com/docs (plugin manifest, marketplace and hooks references) that concern fields used here.
const kebab = z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
const person = z.strictObject({ name: z.string().min(1), email: z.string().optional(), url: z.string().optional() })
const manifest = z.strictObject({
  name: kebab,
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(1),
  author: person,
  license: z.string(),
  keywords: z.array(z.string()),
})
const marketplace = z.strictObject({
  name: kebab,
  owner: person,
  plugins: z.array(
    z.strictObject({ name: kebab, source: z.string().startsWith('./'), version: z.string(), description: z.string() }),
  ),
})
const hooks = z.strictObject({
  description: z.string(),
  hooks: z.strictObject({
    SessionStart: z.array(
      z.strictObject({
        matcher: z.string(),
        hooks: z.array(
          z.strictObject({ type: z.literal('command'), command: z.string(), timeout: z.int().positive() }),
        ),
      }),
    ),
  }),
})
// agentskills.io/specification
const skillHead = z.strictObject({
  name: kebab.max(64),
  description: z.string().min(1).max(1024),
  license: z.string().optional(),
  compatibility: z.string().max(500).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  'allowed-tools': z.string().optional(),
})
const agentHead = z.strictObject({ name: kebab, description: z.string().min(1), tools: z.string() })

describe('the plugin', () => {
  it('has manifests as their formats want them, in the version of the package', () => {
    const { name, version } = manifest.parse(JSON.parse(read('.claude-plugin/plugin.json')))
    const { plugins } = marketplace.parse(JSON.parse(read('.claude-plugin/marketplace.json')))
    expect({ name, version }).toEqual({ name: packageJson.name, version: packageJson.version })
    expect(plugins.map(listed => [listed.name, listed.version])).toEqual([[name, version]])
    expect(packageJson.files).toContain('plugin')
  })

  it('starts the server of the installed package and downloads nothing', () => {
    const { command, args } = JSON.parse(read('.mcp.json')).mcpServers.querent
    expect([command, ...args]).toEqual(['npx', '--no-install', packageJson.name, 'mcp', '--detail', 'concise'])
  })

  it.each(skills)('has the skill %s in the open format', name => {
    const text = read(`skills/${name}/SKILL.md`)
    expect(skillHead.parse(headOf(text)).name).toBe(name)
    expect(text.split('\n').length).toBeLessThanOrEqual(500)
  })

  it('has one agent', () => {
    expect(readdirSync(join(plugin, 'agents'))).toEqual(['knowledge-researcher.md'])
    expect(agentHead.parse(headOf(read('agents/knowledge-researcher.md'))).name).toBe('knowledge-researcher')
  })

  it('names only commands that run', async () => {
    using folder = tempFolder()
    project(folder.path)
    const lines = skills.flatMap(name => commandsIn(read(`skills/${name}/SKILL.md`)))
    expect(lines.length).toBeGreaterThan(18)
    // What reads comes after what writes.
    const ordered = ['querent add notes --collection notes', 'querent context index', ...lines]
    for (const line of ordered) {
      const { status, stdout, stderr } = await runIn(folder.path, line)
      // Notes on an answer, not complaints about the command.
      const complaints = stderr.replace(/^.*(there is no embedder|SCORE is nearness in meaning).*\n/gm, '')
      expect({ line, status, complaints }).toEqual({ line, status: 0, complaints: '' })
      expect(stdout, line).not.toBe('')
    }
  })

  it('names in its text and its agent only commands and flags that there are', async () => {
    using folder = tempFolder()
    const texts = [...skills.map(name => `skills/${name}/SKILL.md`), 'agents/knowledge-researcher.md', 'hooks/brief.sh']
    const named = texts.flatMap(path => [...read(path).matchAll(/querent ([a-z]+)(?: ([a-z]+))?([^`\n|]*)/g)])
    expect(named.length).toBeGreaterThan(20)
    for (const [line, command = '', next, rest = ''] of named) {
      const group = ['context', 'chroma'].includes(command) && next !== undefined ? [command, next] : [command]
      const { status, stdout } = await runInProcess([...group, '--help'], { workingFolder: folder.path })
      if (command === 'command') continue // "needs the querent command"
      expect({ line, status }).toEqual({ line, status: 0 })
      for (const [flag] of rest.replace(/"[^"]*"|'[^']*'/g, '').matchAll(/--[a-z-]+/g)) {
        expect(stdout, `${line}: ${flag}`).toContain(flag)
      }
    }
  })
})

describe('the hook', () => {
  const { hooks: events } = hooks.parse(JSON.parse(read('hooks/hooks.json')))
  const command = events.SessionStart[0]?.hooks[0]?.command ?? ''

  function start(cwd: string, env: Readonly<Record<string, string>>): string {
    return execFileSync('/bin/sh', ['-c', command], {
      cwd,
      env: { ...env, CLAUDE_PLUGIN_ROOT: plugin },
      encoding: 'utf8',
    })
  }

  it('briefs a session on the store, and is silent without a store or a command', async () => {
    using folder = tempFolder()
    project(folder.path)
    const { env } = shellIn(folder.path)
    expect(start(folder.path, env)).toBe('')
    expect(start(folder.path, { PATH: '/usr/bin:/bin', HOME: folder.path })).toBe('')
    await querent(['add', 'notes', '--collection', 'notes'], { cwd: folder.path })
    const said = start(folder.path, env)
    expect(said).toBe((await querent(['brief'], { cwd: folder.path })).stdout)
    expect(said).toContain('Collections: "notes" 5.')
  })

  it('is silent, and no failure, where the store is broken', async () => {
    using folder = tempFolder()
    const { env } = shellIn(folder.path)
    mkdirSync(join(folder.path, '.querent'))
    writeFileSync(join(folder.path, '.querent/store.db'), 'no store')
    expect(start(folder.path, env)).toBe('')
  })
})

/** Notes, and code as the guide to the lens context has it. */
function project(folder: string): void {
  cpSync(join(root, 'examples/notes'), join(folder, 'notes'), { recursive: true })
  const code =
    'function normalise(name) { return name.trim() }\nexport class Store { get(name) { return normalise(name) } }\n'
  mkdirSync(join(folder, 'src'))
  writeFileSync(join(folder, 'src/store.js'), code)
  const login = "import { Store } from './store.js'\nexport function login(user) { return new Store().get(user) }\n"
  writeFileSync(join(folder, 'src/login.js'), login)
}

function headOf(text: string): unknown {
  return parseYaml(/^---\n([\s\S]*?)\n---\n/.exec(text)?.[1] ?? '')
}

function commandsIn(text: string): readonly string[] {
  const shown = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.trim().split('\n'))
  return shown.filter(line => line !== '')
}

/** As a shell splits the line, as far as quotes go; in this process, as starting two dozen takes a minute. */
function runIn(workingFolder: string, line: string): ReturnType<typeof querent> {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain ?? '')
  expect(words[0]).toBe('querent')
  return runInProcess([...words.slice(1), '--home', join(workingFolder, '.querent')], { workingFolder })
}
