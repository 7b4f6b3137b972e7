/** Entries against themselves: the hash of the content, JSON that can be read, chunks within the content. */
import { sha256 } from '../../base/canonical.ts'
import type { SqlDatabase } from '../sqlite/sql-driver.ts'
import { isObject, parsed } from './parsed.ts'
import { type Check, problemOf, RESTORE_HELP, those } from './problem.ts'

export const contents: Check = {
  name: 'contents',
  sound: 'every text is as it was written',
  look(db) {
    const [changed, unreadable]: [string[], string[]] = [[], []]
    const rows = db.prepareArrays<[string, string, string, string, string]>(
      `select e.holder || '/' || e.id, b.content, b.content_hash, b.tags, b.metadata
       from bodies b join entries e on e.key = b.entry order by b.entry`,
    )
    for (const [name, content, hash, tags, metadata] of rows.each()) {
      if (sha256(content) !== hash) changed.push(name)
      if (!(Array.isArray(parsed(tags)) && isObject(parsed(metadata)))) unreadable.push(name)
    }
    const help = `${RESTORE_HELP} What came from files is put right by deleting it and adding them again.`
    return those([
      problemOf(changed, 'text is not what was written', 'texts are not what was written', { help, mend: null }),
      problemOf(unreadable, 'entry with unreadable tags or metadata', 'entries with unreadable tags or metadata', {
        help,
        mend: null,
      }),
    ])
  },
}

export const chunks: Check = {
  name: 'chunks',
  sound: 'every passage lies within its text',
  look(db) {
    const wrong: string[] = []
    const chunksOf = db.prepareArrays<[number, number, number, string]>(
      'select ordinal, start_unit, end_unit, headings from chunks where entry = ? order by ordinal, key',
    )
    for (const [key, name, length] of lengths(db)) {
      const isWrong = chunksOf.all(key).some(([ordinal, start, end, headings], at) => {
        return ordinal !== at || start < 0 || end < start || end > length || !Array.isArray(parsed(headings))
      })
      if (isWrong) wrong.push(name)
    }
    const help = 'Write these entries again (`querent add`, `put`): their passages are then cut anew.'
    return those([problemOf(wrong, 'entry with wrong passages', 'entries with wrong passages', { help, mend: null })])
  },
}

/** In the UTF-16 units that chunks are measured in, which SQLite does not count. */
function* lengths(db: SqlDatabase): Generator<readonly [key: number, name: string, length: number]> {
  const rows = db.prepareArrays<[number, string, string]>(
    `select e.key, e.holder || '/' || e.id, b.content from entries e join bodies b on b.entry = e.key order by e.key`,
  )
  for (const [key, name, content] of rows.each()) yield [key, name, content.length]
}
