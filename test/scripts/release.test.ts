/** `npm run release` writes a version wherever one is named, and nothing when something is wrong. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { prepareRelease, type Release } from '../../scripts/release.ts'
import { type TempFolder, tempFolder } from '../support/temp-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const FILES = [
  'package.json',
  'package-lock.json',
  'README.md',
  'docs/guide/five-minutes.md',
  'plugin/.claude-plugin/plugin.json',
  'plugin/.claude-plugin/marketplace.json',
  'packages/model-multilingual/package.json',
]
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2026-01-01\n\n- Old.\n'

const present = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
const release: Release = { version: '99.0.0', date: '2026-12-01', fields: { homepage: 'https://example.org' } }

const temporary: TempFolder[] = []
afterEach(() => {
  for (const folder of temporary.splice(0)) folder[Symbol.dispose]()
})

function copied(changelog = CHANGELOG) {
  const made = tempFolder()
  temporary.push(made)
  const folder = made.path
  for (const name of FILES) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    cpSync(join(root, name), join(folder, name))
  }
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  const texts = () => [...FILES, 'CHANGELOG.md'].map(name => readFileSync(join(folder, name), 'utf8'))
  return { folder, texts }
}

describe('npm run release', () => {
  it('writes the version into package, lockfile, plugin and pages, and changes nothing else there', () => {
    const { folder, texts } = copied()
    const before = texts()
    prepareRelease(folder, { ...release, fields: {} })
    const after = texts()
    for (const [index, text] of after.slice(0, -1).entries()) {
      expect(text, FILES[index]).toContain('99.0.0')
      expect(text.replaceAll('99.0.0', present), FILES[index]).toBe(before[index])
    }
  })

  it('names the section of the changelog, and gives its text for the tag', () => {
    const { folder } = copied()
    expect(prepareRelease(folder, release)).toBe('Querent 99.0.0\n\n### Added\n\n- A thing.\n')
    expect(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8')).toContain(
      '## [Unreleased]\n\n## [99.0.0] - 2026-12-01\n\n### Added\n\n- A thing.\n\n## [0.0.1]',
    )
  })

  it('sets the addresses that are given', () => {
    const { folder } = copied()
    prepareRelease(folder, release)
    expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).toMatchObject({
      homepage: 'https://example.org',
      version: '99.0.0',
    })
  })

  it.each<[string, Partial<Release>, string, string?]>([
    ['a version that is no version', { version: 'next' }, 'version: expected three numbers above'],
    ['the present version', { version: present }, 'version: expected three numbers above'],
    [
      'an address without https',
      { fields: { bugs: 'example.org' } },
      '--bugs: expected an address that begins with https://, got example.org',
    ],
    ['a date of another form', { date: '1.12.2026' }, '--date: expected YYYY-MM-DD, got 1.12.2026'],
    [
      'a changelog without news',
      {},
      'CHANGELOG.md: the section [Unreleased] is missing or empty',
      '# Changelog\n\n## [Unreleased]\n\n## [0.0.1]\n\n- Old.\n',
    ],
  ])('refuses %s and writes nothing', (_, changed, message, changelog) => {
    const { folder, texts } = copied(changelog)
    const before = texts()
    expect(() => prepareRelease(folder, { ...release, ...changed })).toThrow(message)
    expect(texts()).toEqual(before)
  })
})
