/**
 * Calls of Go across files and packages, held against Go's own type checker on the sources of the Go tools, which nobody
 * tuned to (CX-079). `QUERENT_LONG=1` reads more packages.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { filesBelow, graphOf, linksOf, readFiles } from '../support/extracted.ts'

const ORACLE = fileURLToPath(new URL('../support/go-oracle.go', import.meta.url))
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
/** Measured on Go 1.26: precision 0.9998, recall 0.996. */
const FLOORS = { precision: 0.98, recall: 0.95 }

const asked = spawnSync('go', ['env', 'GOROOT'], { encoding: 'utf8' })
const root = asked.status === 0 ? join(asked.stdout.trim(), 'src/cmd') : ''
const hasGo = root !== '' && PACKAGES.every(name => existsSync(join(root, name)))

describe('calls of Go against its type checker', () => {
  const title = `are linked as it says${hasGo ? '' : ' (skipped: there is no Go with its sources)'}`
  it.skipIf(!hasGo)(`${title} (CX-079)`, { timeout: 600_000 }, async () => {
    const options = { encoding: 'utf8', maxBuffer: 1 << 28 } as const
    const lines = new Set(
      execFileSync('go', ['run', ORACLE, root, ...PACKAGES], options)
        .trim()
        .split('\n'),
    )
    const read = new Set([...lines].flatMap(line => (line.startsWith('FILE ') ? [line.slice(5)] : [])))
    const fileOf = (place: string) => place.slice(0, place.indexOf('#'))
    // Calls at the top of a file have no function that makes them.
    const isOfBoth = (line: string) => {
      const [source = '', target = ''] = line.split(' CALLS ')
      return read.has(fileOf(source)) && read.has(fileOf(target)) && source !== `${fileOf(source)}#${fileOf(source)}`
    }
    const wanted = new Set([...lines].filter(line => line.includes(' CALLS ') && isOfBoth(line)))
    const folders = new Set([...read].map(path => path.slice(0, path.lastIndexOf('/'))))
    const files = filesBelow(root, /^go\.mod$|\.go$/).filter(
      path => path === 'go.mod' || folders.has(path.slice(0, path.lastIndexOf('/'))),
    )
    const graph = await graphOf(readFiles(root, files))
    const found = new Set(
      linksOf(graph, 'CALLS')
        .map(link => link.replace(/ [\d.]+$/, ''))
        .filter(isOfBoth),
    )
    const right = [...found].filter(link => wanted.has(link)).length
    expect(wanted.size).toBeGreaterThan(500)
    expect(right / found.size).toBeGreaterThanOrEqual(FLOORS.precision)
    expect(right / wanted.size).toBeGreaterThanOrEqual(FLOORS.recall)
  })
})
