/**
 * Which modules of `src` short commands load, each as often as Node loads it, and how many SQL statements a query runs, counted at each call
 * that runs a prepared statement or a text of statements. Both in processes that run the sources: most of such a command's time is loading.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtCommand } from '../support/built-command.ts'
import { modelFolder } from '../support/model.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const HOOK = new URL('../support/count-modules-child.ts', import.meta.url).href
const PROGRAM = fileURLToPath(new URL('../../scripts/querent.ts', import.meta.url))
const SOURCE = new URL('../../src/', import.meta.url).href
const NOTES = ['ferries one', 'ships two', 'trains three', 'cars four', 'planes five'].map(content => ({ content }))

interface Run {
  readonly stdout: string
  /** Paths below `src`, in the order of loading. */
  readonly modules: readonly string[]
  /** Names of files of the built command, in the order of loading. */
  readonly built: readonly string[]
  readonly statements: readonly string[]
}

describe('a command over notes', () => {
  let folder: TempFolder
  let puts: Run
  let runs = 0
  beforeAll(() => {
    folder = tempFolder()
    puts = run('call', 'put', JSON.stringify({ entries: NOTES }))
  })
  afterAll(() => folder[Symbol.dispose]())

  function run(...args: readonly string[]): Run {
    return runWith({}, ...args)
  }

  function runWith(env: Readonly<Record<string, string>>, ...args: readonly string[]): Run {
    return runProgram(PROGRAM, env, ...args)
  }

  function runProgram(program: string, env: Readonly<Record<string, string>>, ...args: readonly string[]): Run {
    const file = folder.file(`modules-${runs}.txt`)
    const sqlFile = folder.file(`statements-${runs++}.txt`)
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--import', HOOK, program, ...args], {
      cwd: folder.path,
      env: {
        PATH: '',
        HOME: folder.path,
        QUERENT_HOME: folder.file('home'),
        QUERENT_EMBEDDER: 'none',
        MODULES: file,
        STATEMENTS: sqlFile,
        ...env,
      },
      encoding: 'utf8',
    })
    expect([status, stderr], args.join(' ')).toEqual([0, expect.not.stringContaining('querent:')])
    const urls = readFileSync(file, 'utf8').split('\n')
    const statements = existsSync(sqlFile) ? readFileSync(sqlFile, 'utf8').trim().split('\n') : []
    return {
      stdout,
      statements,
      modules: urls.flatMap(url => (url.startsWith(SOURCE) ? url.slice(SOURCE.length) : [])),
      built: urls.flatMap(url => url.split('/dist/command/')[1] ?? []),
    }
  }

  /** Code of lenses. Their tables are data that the store must know whichever lens is asked. */
  function lensesIn({ modules }: Run): readonly string[] {
    return modules.filter(path => /^lenses\/(?!default\/)[^/]+\/(?!tables[.]ts$)/.test(path))
  }

  it('answers a query by words without the code of any other lens, in at most 150 modules and 20 SQL statements', () => {
    const query = run('query', '--words', 'ferries')
    expect(query.stdout).toContain('ferries one')
    expect(lensesIn(query)).toEqual([])
    expect(
      query.modules.filter(path => /^(ingest|sources|embed[/]http|engine[/]live|interfaces[/](http|mcp))/.test(path)),
    ).toEqual([])
    expect(query.modules.length).toBeLessThanOrEqual(150)
    expect(query.statements.length).toBeGreaterThan(10)
    expect(query.statements.length).toBeLessThanOrEqual(20)
  })

  it.each([['--help'], ['--version']])(
    'answers %s without engine, operations and their schemas, in at most 26 modules',
    flag => {
      const { modules } = run(flag)
      expect(
        modules.filter(path => /^(engine[/]open|ops[/](catalog|query-ops)|model[/]query-input|pipeline)/.test(path)),
      ).toEqual([])
      expect(modules.length).toBeGreaterThan(10)
      expect(modules.length).toBeLessThanOrEqual(26)
    },
  )

  it('answers a query by words as the built command in at most 24 files, and --help without the largest of them', () => {
    const query = runProgram(builtCommand(), {}, 'query', '--words', 'ferries')
    expect(query.stdout).toContain('ferries one')
    const help = runProgram(builtCommand(), {}, '--help')
    for (const { built } of [query, help]) expect(built).toContain('main.js')
    expect(query.built.length).toBeLessThanOrEqual(24)
    const sizeOf = (name: string) => statSync(join(dirname(builtCommand()), '../dist/command', name)).size
    expect(help.built).not.toContain(query.built.reduce((a, b) => (sizeOf(a) > sizeOf(b) ? a : b)))
  })

  it('runs the same SQL statements for a query by words whether it never pauses or pauses after each step', () => {
    const query = run('query', '--words', 'ferries')
    const pausing = runWith({ PAUSES: '1' }, 'query', '--words', 'ferries')
    expect([pausing.stdout, pausing.statements]).toEqual([query.stdout, query.statements])
  })

  it('starts no thread for a query by words, and one for a query that is embedded', () => {
    modelFolder()
    const threadsOf = (...args: readonly string[]) => {
      const file = folder.file(`threads-${runs}.txt`)
      const { stdout } = runWith({ THREADS: file, QUERENT_EMBEDDER: 'local' }, ...args)
      expect(stdout).toContain('ferries one')
      return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0
    }
    expect(threadsOf('query', '--words', 'ferries')).toBe(0)
    expect(threadsOf('query', 'ferries')).toBe(1)
  })

  it('puts entries without the code of any other lens, in at most 158 modules', () => {
    expect(JSON.parse(puts.stdout)).toMatchObject({ created: NOTES.length })
    expect(lensesIn(puts)).toEqual([])
    expect(puts.modules.length).toBeLessThanOrEqual(158)
  })

  it('lists entries without the code of any other lens, in at most 152 modules', () => {
    const list = run('list')
    expect(list.stdout).toContain('5 of 5')
    expect(lensesIn(list)).toEqual([])
    expect(list.modules.length).toBeLessThanOrEqual(152)
  })

  it('loads the code of the lens that a query names, and of no other', () => {
    const query = run('query', 'ferries', '--lens', 'collections', '--json')
    expect(new Set(lensesIn(query).map(path => path.split('/')[1]))).toEqual(new Set(['collections']))
  })
})
