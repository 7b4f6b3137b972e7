/** The reference says what the code says, and every link into it leads somewhere. */
import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { commandsOf } from '../../scripts/reference/commands-of.ts'
import { withKnown } from '../../scripts/reference/known.ts'
import { CHROMA_ERRORS, CONTEXT_ERRORS } from '../../scripts/reference/lens-errors.ts'
import { anchor } from '../../scripts/reference/markdown.ts'
import { referencePages, root } from '../../scripts/reference/pages.ts'
import { VARIABLES } from '../../scripts/reference/variables.ts'
import { isRecord } from '../../src/base/record.ts'
import { ERROR_CODES } from '../../src/model/errors.ts'
import { jsonSchema } from '../../src/ops/catalog.ts'

let pages: ReadonlyMap<string, string>
beforeAll(async () => {
  pages = await referencePages()
})

const textsOf = (folder: string, ending: string): readonly string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith(ending))
    .map(name => readFileSync(`${root}${folder}/${name}`, 'utf8'))

const found = (texts: readonly string[], pattern: RegExp): ReadonlySet<string> =>
  new Set(texts.flatMap(text => [...text.matchAll(pattern)].map(match => match[1] ?? '')))

describe('the reference', () => {
  it.each(['operations', 'errors', 'settings'])('of %s is what `npm run reference` makes now', name => {
    const path = `docs/reference/${name}.md`
    expect(readFileSync(`${root}${path}`, 'utf8')).toBe(pages.get(path))
  })

  it('has headings for whatever is linked', () => {
    const files = ['README.md', ...['guide', 'reference'].flatMap(folder => namesIn(`docs/${folder}`))]
    const links = files.flatMap(file => {
      const within = file.startsWith('docs/reference/')
        ? /\]\(((?:\w+\.md)?#[\w-]+)\)/g
        : /reference\/(\w+\.md#[\w-]+)/g
      return [...readFileSync(`${root}${file}`, 'utf8').matchAll(within)].map(([, target = '']) =>
        target.startsWith('#') ? `${file.replace('docs/reference/', '')}${target}` : target,
      )
    })
    const headings = new Set(
      [...pages].flatMap(([path, text]) =>
        [...text.matchAll(/^#+ (.*)$/gm)].map(
          ([, heading = '']) => `${path.replace('docs/reference/', '')}#${anchor(heading)}`,
        ),
      ),
    )
    expect(links.length).toBeGreaterThan(100)
    expect(links.filter(link => !headings.has(link))).toEqual([])
  })

  it('has every operation once, with a meaning for every field of those of the engine', async () => {
    const text = pages.get('docs/reference/operations.md') ?? ''
    await withKnown(({ catalog }) => {
      for (const [name, { input }] of catalog) {
        expect(text.split(`\n### ${name}\n`), name).toHaveLength(2)
        const { properties } = jsonSchema(input, 'input')
        if (name.includes('.') || !isRecord(properties)) continue
        for (const [field, schema] of Object.entries(properties)) {
          expect(isRecord(schema) && schema['description'], `${name}.${field}`).toMatch(/../)
        }
      }
    })
  })

  it('has every code, and of the lenses chroma and context those that they throw', () => {
    const errors = pages.get('docs/reference/errors.md') ?? ''
    for (const code of Object.keys(ERROR_CODES)) expect(errors).toContain(`\n### ${code}\n`)
    const chroma = found(textsOf('src/lenses/chroma', '.ts'), /(?:(?<!Querent)Error|super)\(\s*'([a-z_]+)'/g)
    expect([...chroma].sort()).toEqual(CHROMA_ERRORS.map(([code]) => code).sort())
    const patterns = [
      /refusal\([^,]+, '([a-z_]+)'/g,
      /errorAt\(.+?\], '([a-z_]+)'/g,
      /errorAt\(\w+, '([a-z_]+)'/g,
      /\.fail\(\w+, '([a-z_]+)'/g,
    ]
    const context = patterns.flatMap(pattern => [...found(textsOf('src/lenses/context', '.ts'), pattern)])
    expect(context.filter(code => !CONTEXT_ERRORS.some(([known]) => known === code))).toEqual([])
  })

  it('has every variable that begins with our name', () => {
    const read = found(textsOf('src', '.ts'), /'(QUERENT_[A-Z_]+)'/g)
    // Those of limits are made from the settings, in the source and in the table.
    const reported = VARIABLES.map(([name]) => name).filter(name => /^QUERENT_(?!LIMITS_)/.test(name))
    expect([...read].sort()).toEqual(reported.sort())
  })

  it('names commands that there are', async () => {
    await withKnown(known => {
      const paths = new Set(known.commands.map(({ path }) => path))
      const named = [...known.catalog.keys()].flatMap(name => commandsOf(name, known))
      expect(named.length).toBeGreaterThan(50)
      expect(named.filter(command => !paths.has(command.replace(/ --.*/, '')))).toEqual([])
    })
  })
})

function namesIn(folder: string): readonly string[] {
  return readdirSync(`${root}${folder}`).map(name => `${folder}/${name}`)
}
