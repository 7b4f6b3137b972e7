/** The examples of the guide "query-language" are read, and what it says of them is compared. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { QuerentError } from '../../../src/model/errors.ts'
import { ENTRY_FIELDS, type Filter, TIME_FIELDS } from '../../../src/model/filter.ts'
import type { ParsedQuery } from '../../../src/model/plan.ts'
import type { Syntax } from '../../../src/model/query.ts'
import { parseQuery } from '../../../src/text/query-parser.ts'

const guide = readFileSync(new URL('../../../docs/guide/query-language.md', import.meta.url), 'utf8')
const NOW = Date.parse('2026-03-10T15:00:00Z')

function parse(text: string, syntax: Syntax = 'lenient'): ParsedQuery {
  return parseQuery(text, { fields: ENTRY_FIELDS, now: NOW, syntax })
}

/** Each line that is no remark, with the remarks behind it. */
function examples(language: string): readonly (readonly [string, readonly string[]])[] {
  const blocks = [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    match => match[1] ?? '',
  )
  const found: [string, string[]][] = []
  for (const line of blocks.flatMap(block => block.trimEnd().split('\n'))) {
    if (line.startsWith('# ')) found.at(-1)?.[1].push(line.slice(2))
    else found.push([line, []])
  }
  return found
}

function reading(query: ParsedQuery): readonly string[] {
  const texts = (list: readonly { readonly text: string }[]) => list.map(item => item.text).join(', ')
  const words = query.terms.map(({ text, boost }) => (boost === 1 ? text : `${text}^${boost}`)).join(', ')
  const parts: readonly (readonly [string, string])[] = [
    ['words', words],
    ['phrases', texts(query.phrases)],
    ['must', texts(query.must)],
    ['must not', texts(query.mustNot)],
    ['boosts', query.boosts.map(({ text, boost }) => `${text} × ${boost}`).join(', ')],
    ['filter', query.filter === null ? '' : described(query.filter)],
    ['embedded', query.residual],
    ['note', query.notes.map(note => note.message).join(' ')],
  ]
  return parts.filter(([, text]) => text !== '').map(([name, text]) => `${name}: ${text}`)
}

const SIGNS = { eq: '=', lt: '<', lte: '<=', gt: '>', gte: '>=' } as const

function described(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.of.map(described).join(` ${filter.op} `)
    case 'not':
      return `not ${described(filter.of)}`
    case 'in':
      return `${filter.field} in ${JSON.stringify(filter.values)}`
    case 'contains':
      return `${filter.field} contains ${JSON.stringify(filter.text)}`
    case 'exists':
      return `${filter.field} exists`
    default: {
      const isTime = TIME_FIELDS.includes(filter.field)
      const value = isTime ? new Date(filter.value as number).toISOString() : JSON.stringify(filter.value)
      return `${filter.field} ${SIGNS[filter.op]} ${value}`
    }
  }
}

describe('the guide to the query language', () => {
  it.each(examples('query'))('reads %j as it says', (text, remarks) => {
    expect(reading(parse(text))).toEqual(remarks)
  })

  it.each(examples('refused'))('refuses %j as it says', (text, remarks) => {
    let error: unknown
    try {
      parse(text, 'strict')
    } catch (caught) {
      error = caught
    }
    const { details } = error as QuerentError
    expect(error).toBeInstanceOf(QuerentError)
    expect([`${details['reason']} at ${details['position']}`]).toEqual(remarks)
  })

  it('has examples of everything', () => {
    expect(examples('query').length).toBeGreaterThan(15)
    expect(examples('refused').length).toBeGreaterThan(8)
    for (const field of ENTRY_FIELDS) expect(guide).toContain(`\`${field}\``)
  })
})
