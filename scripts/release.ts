/**
 * Prepares a release: `npm run release -- 0.2.0 [--repository URL] [--homepage URL] [--bugs URL] [--date 2026-11-27]`. Sets the version
 * wherever it is written, names the section [Unreleased] of the changelog after it, sets the given fields of package.json, and prints the
 * text of the tag. It changes files only: the commit, the tag and the upload are for a person to make.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

/** Files that name the version, beside package.json and its lockfile: JSON with a field `version`, and pages with the name of the tarball. */
const JSON_FILES = [
  'plugin/.claude-plugin/plugin.json',
  'plugin/.claude-plugin/marketplace.json',
  'packages/model-multilingual/package.json',
]
const PAGES = ['README.md', 'docs/guide/five-minutes.md']
const FIELDS = ['repository', 'homepage', 'bugs'] as const

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/
const USAGE = 'usage: npm run release -- <version> [--repository URL] [--homepage URL] [--bugs URL] [--date YYYY-MM-DD]'

export interface Release {
  readonly version: string
  /** The day of the release, as YYYY-MM-DD. */
  readonly date: string
  /** Addresses for package.json. A field that is missing here stays as it is. */
  readonly fields: { readonly [Name in (typeof FIELDS)[number]]?: string | undefined }
}

/**
 * Writes the release into the files of `folder`, and returns the text of the tag. Everything is checked first: an error leaves all files
 * as they were.
 * @throws Error if the version is not above the present one, an address is not https, or [Unreleased] is missing or empty.
 */
export function prepareRelease(folder: string, release: Release): string {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const { version: present } = JSON.parse(read('package.json')) as { version: string }
  if (!isAbove(release.version, present)) {
    throw new Error(
      `version: expected three numbers above ${present}, such as ${nextMinor(present)}; got ${release.version}`,
    )
  }
  if (!/^\d{4}-\d\d-\d\d$/.test(release.date)) throw new Error(`--date: expected YYYY-MM-DD, got ${release.date}`)
  for (const field of FIELDS) {
    const address = release.fields[field]
    if (address !== undefined && !/^(git\+)?https:\/\/\S+$/.test(address)) {
      throw new Error(`--${field}: expected an address that begins with https://, got ${address}`)
    }
  }
  const changelog = read('CHANGELOG.md')
  const section = /^## \[Unreleased\]\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog)
  const notes = section?.[1]?.trim() ?? ''
  if (notes === '')
    throw new Error('CHANGELOG.md: the section [Unreleased] is missing or empty; list what changes for users there')

  const written = new Map<string, string>()
  written.set(
    'package.json',
    edited(read('package.json'), json => Object.assign(json, { version: release.version }, given(release.fields))),
  )
  written.set(
    'package-lock.json',
    edited(read('package-lock.json'), json => {
      json['version'] = release.version
      Object.assign((json['packages'] as Record<string, object>)[''] ?? {}, { version: release.version })
    }),
  )
  for (const name of JSON_FILES)
    written.set(name, read(name).replaceAll(`"version": "${present}"`, `"version": "${release.version}"`))
  for (const name of PAGES)
    written.set(name, read(name).replaceAll(`querent-${present}.tgz`, `querent-${release.version}.tgz`))
  written.set(
    'CHANGELOG.md',
    changelog.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${release.version}] - ${release.date}\n`),
  )
  for (const [name, text] of written) writeFileSync(join(folder, name), text)
  return `Querent ${release.version}\n\n${notes}\n`
}

function given(fields: Release['fields']): Record<string, string> {
  return Object.fromEntries(FIELDS.flatMap(field => (fields[field] === undefined ? [] : [[field, fields[field]]])))
}

function edited(text: string, edit: (json: Record<string, unknown>) => void): string {
  const json = JSON.parse(text) as Record<string, unknown>
  edit(json)
  return `${JSON.stringify(json, null, 2)}\n`
}

function isAbove(version: string, present: string): boolean {
  const [next, now] = [version, present].map(text => VERSION.exec(text)?.slice(1).map(Number))
  if (next === undefined || now === undefined) return false
  const place = next.findIndex((part, index) => part !== now[index])
  return place >= 0 && (next[place] ?? 0) > (now[place] ?? 0)
}

function nextMinor(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return `${major}.${minor + 1}.0`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = { type: 'string' } as const
  const { values, positionals } = parseArgs({
    options: { repository: text, homepage: text, bugs: text, date: text },
    allowPositionals: true,
  })
  const [version] = positionals
  if (version === undefined || positionals.length > 1) {
    console.error(USAGE)
    process.exitCode = 2
  } else {
    const { date = new Date().toISOString().slice(0, 10), ...fields } = values
    try {
      const tag = prepareRelease(fileURLToPath(new URL('..', import.meta.url)), { version, date, fields })
      console.log(`${tag}\nNext: npm test in a fresh clone, commit, tag v${version} with the text above, npm pack`)
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      process.exitCode = 1
    }
  }
}
