import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter(name => name !== '' && existsSync(join(root, name)) && statSync(join(root, name)).isFile())
// Fixtures may be broken on purpose.
const pages = tracked.filter(name => name.endsWith('.md') && !name.includes('fixtures/'))

describe('the documents', () => {
  it.each(pages)('%s links only to what exists', page => {
    expect(deadLinks(page, readFileSync(join(root, page), 'utf8'))).toEqual([])
  })

  it('would be caught with a dead link', () => {
    const text =
      '[a](ARCHITECTURE.md) [b](nowhere.md) [c](https://example.org) [d](#part)\n```\n[e](in-code.md)\n```\n[f]: gone.md'
    expect(deadLinks('README.md', text)).toEqual(['nowhere.md', 'gone.md'])
  })

  it('have decisions with numbers of their own', () => {
    const numbers = tracked.flatMap(name => name.match(/^docs\/decisions\/(\d{3})-/)?.[1] ?? [])
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([])
  })
})

describe('the packed documents', () => {
  it('link only to what is packed with them', () => {
    const listing = execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      ...{ cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 64 * 1024 * 1024 },
    })
    const [{ files }] = JSON.parse(listing) as [{ readonly files: readonly { readonly path: string }[] }]
    const packed = files.map(({ path }) => path)
    const isPacked = (path: string) => packed.some(file => file === path || file.startsWith(`${path}/`))
    const dead = packed
      .filter(path => pages.includes(path))
      .flatMap(page => linksOf(page, readFileSync(join(root, page), 'utf8')).map(target => ({ page, target })))
      .filter(({ target }) => !isPacked(target))
    expect(packed).toContain('bench/figures.md')
    expect(dead).toEqual([])
  })
})

describe('no file of the repository', () => {
  // Written in pieces, so that this file does not hold what it looks for.
  const forbidden = {
    'a path of one machine': ['/wo' + 'rk/', '/ro' + 'ot/', '/tmp/' + 'team', '/home/' + 'user'],
    'the host of a package registry': [
      'registry.' + 'npmjs',
      'npmjs.' + 'org/',
      'registry.' + 'yarnpkg',
      'pypi.' + 'org',
    ],
  }

  it.each(Object.entries(forbidden))('names %s', (_, words) => {
    const guilty = tracked.filter(name => words.some(word => readFileSync(join(root, name), 'latin1').includes(word)))
    expect(guilty).toEqual([])
  })
})

/** Targets inside the repository that are not there, as they are written. */
function deadLinks(page: string, text: string): string[] {
  return targetsOf(text).filter(target => !existsSync(join(root, pathOf(page, target))))
}

/** Paths in the repository that a page links to. */
function linksOf(page: string, text: string): string[] {
  return targetsOf(text).map(target => pathOf(page, target))
}

function pathOf(page: string, target: string): string {
  return join(dirname(page), decodeURIComponent(target.split('#')[0] ?? ''))
}

/** Code blocks are no links; addresses and anchors of the page itself are left out. */
function targetsOf(text: string): string[] {
  const prose = text.replace(/```[\s\S]*?```/g, '').replace(/`[^`\n]*`/g, '')
  const inline = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(match => match[1] ?? '')
  const reference = [...prose.matchAll(/^\[[^\]]+\]:\s*(\S+)/gm)].map(match => match[1] ?? '')
  return [...inline, ...reference].filter(target => !/^([a-z]+:|#)/.test(target))
}
