/**
 * Calls across files held against the languages' own compilers, on sources that come with these and that nobody tuned to (CX-079): of Go
 * those of its tools, of Java those of modules of the JDK; of Rust the crates that Cargo has fetched. `QUERENT_LONG=1` reads more packages of Go.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { filesBelow, graphOf, linksOf, readFiles } from '../support/extracted.ts'
import { rustCalls } from '../support/rust-oracle.ts'
import { tempFolder } from '../support/temp-folder.ts'

const SHORT = ['cover', 'asm/internal/asm', 'go/internal/search', 'internal/obj/riscv']
const LONG = [
  ...SHORT,
  'go/internal/load',
  'go/internal/modload',
  'go/internal/work',
  'compile/internal/syntax',
  'link/internal/ld',
]
const PACKAGES = process.env['QUERENT_LONG'] === '1' ? LONG : SHORT
const MODULES = ['java.logging', 'java.net.http', 'java.sql', 'jdk.httpserver']

const support = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url))

/** The lines of an oracle: `FILE <path>`, and `<path>#<name> CALLS <path>#<name>`. */
function said(command: string, args: readonly string[]): ReadonlySet<string> {
  const output = execFileSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28 })
  return new Set(output.trim().split('\n'))
}

/** Of calls between the files that the oracle has read. */
async function measured(root: string, lines: ReadonlySet<string>, paths: readonly string[]) {
  const read = new Set([...lines].flatMap(line => (line.startsWith('FILE ') ? [line.slice(5)] : [])))
  const fileOf = (place: string) => place.slice(0, place.indexOf('#'))
  const isOfBoth = (line: string) => {
    const [source = '', target = ''] = line.split(' CALLS ')
    // Calls at the top of a file have no function that makes them; one of a function to itself is no link.
    const isTop = source === `${fileOf(source)}#${fileOf(source)}`
    return read.has(fileOf(source)) && read.has(fileOf(target)) && !isTop && source !== target
  }
  const wanted = new Set([...lines].filter(isOfBoth))
  const links = linksOf(await graphOf(readFiles(root, paths)), 'CALLS').map(link => link.replace(/ [\d.]+$/, ''))
  const found = new Set(links.filter(isOfBoth))
  const right = [...found].filter(link => wanted.has(link)).length
  return { wanted: wanted.size, precision: right / found.size, recall: right / wanted.size }
}

const asked = spawnSync('go', ['env', 'GOROOT'], { encoding: 'utf8' })
const goRoot = asked.status === 0 ? join(asked.stdout.trim(), 'src/cmd') : ''
const hasGo = goRoot !== '' && PACKAGES.every(name => existsSync(join(goRoot, name)))

/** Home of a JDK that has its sources; null: none is here. */
function jdkHome(): string | null {
  const shown = spawnSync('java', ['-XshowSettings:properties', '-version'], { encoding: 'utf8' })
  const home = /java\.home = (.+)/.exec(shown.stderr ?? '')?.[1]
  if (home === undefined) return null
  const others = readdirSync(dirname(home)).map(name => join(dirname(home), name))
  return [home, ...others].find(one => ['bin/javac', 'lib/src.zip'].every(name => existsSync(join(one, name)))) ?? null
}
const jdk = jdkHome()

/** Folders of crates that need no other one, whatever their version. */
function cratesHere(): readonly string[] {
  const registry = join(process.env['CARGO_HOME'] ?? join(homedir(), '.cargo'), 'registry/src')
  if (!existsSync(registry) || spawnSync('rustc', ['--version']).status !== 0) return []
  const all = readdirSync(registry).flatMap(name =>
    readdirSync(join(registry, name)).map(one => join(registry, name, one)),
  )
  return CRATES.flatMap(crate => all.filter(path => new RegExp(`/${crate}-\\d[^/]*$`).test(path)).slice(0, 1))
}
const CRATES = ['base64', 'byteorder', 'bytes', 'either', 'glob', 'heck', 'httparse', 'humantime', 'semver', 'smallvec']
const crates = cratesHere()

describe('calls across files', () => {
  it.skipIf(!hasGo)(
    `of Go are those that its type checker finds${hasGo ? '' : ' (skipped: there is no Go with its sources)'} (CX-079)`,
    async () => {
      const lines = said('go', ['run', support('go-oracle.go'), goRoot, ...PACKAGES])
      const folders = new Set([...lines].flatMap(line => (line.startsWith('FILE ') ? dirname(line.slice(5)) : [])))
      const files = filesBelow(goRoot, /^go\.mod$|\.go$/).filter(
        path => path === 'go.mod' || folders.has(dirname(path)),
      )
      const { wanted, precision, recall } = await measured(goRoot, lines, files)
      expect(wanted).toBeGreaterThan(500)
      // Measured on Go 1.26: 0.9998 and 0.996.
      expect(precision).toBeGreaterThanOrEqual(0.98)
      expect(recall).toBeGreaterThanOrEqual(0.95)
    },
  )

  it.skipIf(jdk === null)(
    `of Java are those that javac finds${jdk === null ? ' (skipped: there is no JDK with its sources)' : ''} (CX-079)`,
    async () => {
      using folder = tempFolder()
      const home = jdk as string
      const args = [support('java-oracle.java'), join(home, 'lib/src.zip'), folder.path, ...MODULES]
      const lines = said(join(home, 'bin/java'), args)
      const { wanted, precision, recall } = await measured(folder.path, lines, filesBelow(folder.path, /\.java$/))
      expect(wanted).toBeGreaterThan(5_000)
      // Measured on JDK 25: 0.996 and 0.950.
      expect(precision).toBeGreaterThanOrEqual(0.98)
      expect(recall).toBeGreaterThanOrEqual(0.92)
    },
  )

  it.skipIf(crates.length === 0)(
    `of Rust are among those that rustc finds${crates.length === 0 ? ' (skipped: there is no Rust with crates)' : ''} (CX-079)`,
    async () => {
      using folder = tempFolder()
      let [found, right] = [0, 0]
      for (const crate of crates) {
        const calls = rustCalls(crate, folder.file('crate.mir'))
        const graph = await graphOf(
          readFiles(
            crate,
            filesBelow(crate, /\.rs$/).filter(path => path.startsWith('src/')),
          ),
        )
        for (const link of linksOf(graph, 'CALLS')) {
          const [, file = '', source = '', target = ''] = /^([^#]+)#(.+) CALLS [^#]+#(.+) [\d.]+$/.exec(link) ?? []
          const called = calls.get(`${file}#${source.replace(/.*\./, '')}`)
          // What a `cfg` leaves out is not known, and to make a struct is no call.
          if (called === undefined || /(?:^|\.)[A-Z]\w*$/.test(target)) continue
          found++
          if (called.has(target.replace('.', '::'))) right++
        }
      }
      expect(found).toBeGreaterThan((100 * crates.length) / 4)
      expect(right / found).toBeGreaterThanOrEqual(0.98)
    },
  )
})
