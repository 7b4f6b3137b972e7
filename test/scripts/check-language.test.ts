import { describe, expect, it } from 'vitest'
import { findNames, findPhrases, snakeCase, titlesAndComments } from '../../scripts/check-language.ts'
import { averageLength, helpOf, proseOf } from '../../scripts/prose.ts'

describe('the word list', () => {
  it('finds home-made names where they are declared, not where they are used', () => {
    const text = 'const MOST_ROWS = 3\nimport { mustAsk } from "x"\nfunction mendStore() {}\nmustAsk(MOST_ROWS)\n'
    const found = findNames('src/a.ts', text).map(({ line, found }) => [line, found])
    expect(found).toEqual([
      [1, 'MOST_ROWS'],
      [3, 'mendStore'],
    ])
  })

  it('finds home-made names of files', () => {
    expect(findNames('src/told-error.ts', '')).toMatchObject([
      { file: 'src/told-error.ts', line: 1, found: 'told_error' },
    ])
  })

  it('takes parts of longer words for no finding', () => {
    expect(
      findNames('a.ts', 'const recommended = 1\nconst almost = 2\nconst mustard = 3\nconst stockholder = 4\n'),
    ).toEqual([])
  })

  it('finds phrases with their lines, and leaves idioms alone', () => {
    const text = 'What it stands for.\nThe client is told of it.\n\nHe stands here.\nThey can be told apart.\n'
    expect(findPhrases('a.md', text).map(({ line, found }) => [line, found])).toEqual([
      [2, 'is told'],
      [2, 'told of'],
      [4, 'stands'],
      [4, 'He'],
    ])
  })

  it('reads titles and comments of tests, and no data', () => {
    const text =
      "// told\n  it('told', () => {\n    expect(read('told')).toBe('told') // told\n  it.each(ALL)(\n    'told',\n  ])('told', f)"
    const lines = titlesAndComments(text).split('\n')
    expect(lines.map(line => line.includes('told'))).toEqual([true, true, true, false, true, true])
    expect(titlesAndComments("expect(x).toBe('told')\n  ['told', 1],")).toBe('\n')
  })

  it('compares names in snake case', () => {
    expect(['MAX_NAMED', 'maxNamed', 'JsonInput2Row'].map(snakeCase)).toEqual([
      'max_named',
      'max_named',
      'json_input2_row',
    ])
  })
})

describe('prose', () => {
  it('has no code, tables, headings or targets of links', () => {
    const page =
      '# Title here\n\nOne short [sentence](http://example.org/a-b). Another with `code in it`.\n\n| a | b |\n\n```sh\nls -l now\n```\n- An item'
    expect(proseOf(page)).toEqual(['One short [sentence].', 'Another with code.', 'An item'])
  })

  it('of help has descriptions, summaries and messages, without code', () => {
    const code = "z.string().describe('The name. Default: `x`.'), { summary: 'List all', name: 'not this' }"
    expect(helpOf(code)).toEqual(['The name.', 'Default: code.', 'List all'])
  })

  it('has an average only from five sentences on', () => {
    expect(averageLength(['two words'])).toBe(0)
    expect(averageLength(Array.from({ length: 5 }, () => 'one two three'))).toBe(3)
  })
})
