/**
 * Many hashtags at once, from a text: one a line, `#python core` or `#python 17`, hashtag and zone or anchor id parted by
 * white space or a comma. As hashtags begin with `#` themselves, a comment is a `#` (or several) followed by white space or
 * the end of the line; it may also stand behind an assignment. Empty lines are passed over.
 */

import { z } from 'zod'
import type { Instant } from '../../../base/clock.ts'
import { invalidParameter, placed } from '../errors.ts'
import type { Anchor, Binding, Zone } from '../model.ts'
import { type Assignment, type Bindings, checkAssignment } from './bindings.ts'
import { loadStack, STACK, writeStack } from './stack.ts'
import { STARTER } from './starter.ts'

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

/** What a text of assignments holds: a stack file in JSON, or a line each. */
export function assignmentsIn(text: string): readonly Assignment[] {
  return STACK_FILE.test(text) ? loadStack(text.trim()).assignments : loadVocabulary(text)
}

/** What begins as an object of JSON does is no list of hashtags. */
const STACK_FILE = /^\s*\{\s*"/

export const vocabularyForm = z.enum(['lines', 'stack'])

/** The bindings as a text that `assignmentsIn` reads: a line each with the anchor, or a stack file. */
export function vocabularyText(
  bindings: readonly Binding[],
  as: z.output<typeof vocabularyForm>,
  now: Instant,
): string {
  if (as === 'stack') return writeStack(bindings, now)
  return bindings.map(({ hashtag, anchor_id }) => `${hashtag} ${anchor_id}\n`).join('')
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

/** What a new user needs to store and to query at once, with the anchor of each. Core first, each zone in its own order. */
export function starterVocabulary(): readonly {
  readonly hashtag: string
  readonly zone: Zone
  readonly anchorId: number
}[] {
  return (Object.keys(STARTER) as Zone[]).flatMap(zone =>
    [...STARTER[zone].matchAll(/(\S+)=(\d+)/g)].map(([, word, id]) => ({
      hashtag: `#${word}`,
      zone,
      anchorId: Number(id),
    })),
  )
}

/**
 * Assigns what of the starter vocabulary is not assigned yet, and returns that. A hashtag whose anchor is taken gets the nearest free one of
 * its zone. Hashtags that sit elsewhere stay there; a zone that is full takes no more. Doing it again changes nothing.
 */
export function assignStarter(bindings: Bindings): readonly Binding[] {
  const isMissing = ({ hashtag }: { readonly hashtag: string }) => bindings.current.resolve(hashtag) === null
  if (!starterVocabulary().some(isMissing)) return []
  return bindings.change(draft =>
    starterVocabulary().flatMap(({ hashtag, zone, anchorId }) => {
      if (draft.resolve(hashtag) !== null) return []
      const id = draft.at(anchorId) === null ? anchorId : draft.nearestFree(zone, STACK.anchor(anchorId) as Anchor)
      return id === null ? [] : [draft.bind(hashtag, id)]
    }),
  )
}
