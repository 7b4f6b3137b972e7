/**
 * Many hashtags at once, from a text: one a line, `#python core` or `#python 17`, hashtag and zone or anchor id parted by
 * white space or a comma. As hashtags begin with `#` themselves, a comment is a `#` (or several) followed by white space or
 * the end of the line; it may also stand behind an assignment. Empty lines are passed over.
 */
import { QuerentError } from '../../../model/errors.ts'
import { invalidParameter, placed } from '../errors.ts'
import type { Binding, Zone } from '../model.ts'
import { type Assignment, checkAssignment } from './assignment.ts'
import type { Bindings } from './bindings.ts'
import { STARTER_VOCABULARY } from './data/starter-vocabulary.ts'

/** Longer ones are no assignments; a hashtag has at most 100 characters. */
const MAX_LINE = 1000
const COMMENT = /(^|\s)#+(\s.*)?$/u
const DIGITS = /^[0-9]+$/

/** What the text asks for, ready for `assignMany`; throws `invalid_parameter` naming the first line that is wrong. */
export function loadVocabulary(text: unknown): readonly Assignment[] {
  if (typeof text !== 'string') throw invalidParameter('assignments', text, 'text')
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  return lines.flatMap((content, at) => {
    const line = at + 1
    try {
      return parseLine(content, line)
    } catch (error) {
      throw placed(error, `line ${line}`, { line })
    }
  })
}

function parseLine(content: string, line: number): readonly Assignment[] {
  if (content.length > MAX_LINE) throw invalidParameter('assignments', content, 'a hashtag and its place')
  const said = content.replace(COMMENT, '').trim()
  if (said === '') return []
  // The last field is the place; whatever is before it, commas inside included, is the hashtag.
  const [, hashtag, place] = /^(.*?)[\s,]+([^\s,]+)$/u.exec(said) ?? []
  if (!hashtag || place === undefined) {
    throw invalidParameter('assignments', said, 'a hashtag, and a zone or an anchor id (a comment begins with "# ")')
  }
  const assignment = DIGITS.test(place) ? { hashtag, anchorId: Number(place), line } : { hashtag, zone: place, line }
  checkAssignment(assignment)
  return [assignment]
}

/** What a new user needs to store and to ask at once: topics of developers. Core first, each zone in its own order. */
export function starterVocabulary(): readonly { readonly hashtag: string; readonly zone: Zone }[] {
  return (Object.keys(STARTER_VOCABULARY) as Zone[]).flatMap(zone =>
    STARTER_VOCABULARY[zone]
      .trim()
      .split(/\s+/)
      .map(word => ({ hashtag: `#${word}`, zone })),
  )
}

/**
 * Assigns what of the starter vocabulary is not assigned yet, and returns that. Hashtags that sit elsewhere stay there; a
 * zone that is full takes no more. Doing it again changes nothing.
 */
export function assignStarter(bindings: Bindings): readonly Binding[] {
  const isAssigned = ({ hashtag }: { readonly hashtag: string }) => bindings.current.resolve(hashtag) !== null
  if (starterVocabulary().every(isAssigned)) return []
  return bindings.change(draft =>
    starterVocabulary().flatMap(({ hashtag, zone }) => {
      if (draft.resolve(hashtag) !== null) return []
      try {
        return [draft.assign({ hashtag, target: { zone } })]
      } catch (error) {
        if (error instanceof QuerentError && error.code === 'zone_full') return []
        throw error
      }
    }),
  )
}
