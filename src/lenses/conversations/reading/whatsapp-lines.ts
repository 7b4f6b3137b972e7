/** Where a message of a WhatsApp export begins: a line with a date and a time in front. */
import type { WrittenTime } from './whatsapp-dates.ts'

/** The two shapes: `[14/03/2025, 10:00:00] Mira: Hi` (iOS) and `14/03/2025, 10:00 - Mira: Hi` (Android). */
export interface LineShape {
  readonly isBracketed: boolean
  readonly separator: string
}

export interface FirstLine {
  readonly time: WrittenTime
  /** As it stands there, for ids. */
  readonly written: string
  readonly isPadded: boolean
  readonly shape: LineShape
  /** After the time: `Mira: Hi`, or what WhatsApp itself says. */
  readonly rest: string
}

/** Arabic has a mark of direction behind each number, Korean a blank behind each point. */
const DATE = String.raw`(?<a>\d{1,4})\u200f?(?<separator>[./-] ?)(?<b>\d{1,2})\u200f?\k<separator>(?<c>\d{1,4})\.?`
/** The half of the day as it is written behind the time (blanks are no-break ones; Spanish writes `a. m.`), or before it. */
const AM = /^(?:a\.?\s*m\.?|ص|오전|上午|午前)$/i
const BEHIND = String.raw`[ap]\.?\s*m\.?|[صم]`
const BEFORE = '오전|오후|上午|下午|午前|午後'
const TIME = String.raw`(?<hour>\d{1,2})[:.](?<minute>\d\d)(?:[:.](?<second>\d\d))?(?:\s*(?<behind>${BEHIND}))?`
/** Between the two stands a comma, a blank, or a word (`klo` in Finnish, `um` in German, `à` in French). */
const BOTH = String.raw`(?<written>${DATE}[,،]?\s+(?:(?<before>${BEFORE})\s*|\p{L}{1,4}\s+)?${TIME})`
const BRACKETED = new RegExp(String.raw`^\[${BOTH}\]\s?`, 'iu')
const PLAIN = new RegExp(String.raw`^${BOTH}\s+[-–]\s`, 'iu')
/** Written before a line that begins with something else than a letter of the reader's own direction. */
const MARKS = /^[\u200e\u200f\ufeff]+/

/** Null for a line that continues the message above. `shape`: of the file's first message. */
export function firstLineOf(line: string, shape: LineShape | null): FirstLine | null {
  const text = line.replace(MARKS, '')
  const isBracketed = text.startsWith('[')
  if (shape !== null && shape.isBracketed !== isBracketed) return null
  const match = (isBracketed ? BRACKETED : PLAIN).exec(withPlainDigits(text.slice(0, LONGEST)))
  if (match === null) return null
  const {
    written = '',
    a = '',
    separator = '',
    b = '',
    c = '',
    hour,
    minute,
    second,
    before,
    behind,
  } = match.groups ?? {}
  const half = before ?? behind
  if (shape !== null && shape.separator !== separator) return null
  const isYearFirst = a.length === 4
  if (isYearFirst ? c.length > 2 : a.length > 2 || c.length === 3 || c.length < 2) return null
  return {
    time: {
      parts: [Number(a), Number(b), Number(c)],
      isYearFirst,
      hour: Number(hour),
      minute: Number(minute),
      second: Number(second ?? 0),
      half: half === undefined ? null : AM.test(half) ? 'am' : 'pm',
    },
    written: written.replace(/\s+/g, ' '),
    isPadded: a.length > 1 && b.length > 1,
    shape: { isBracketed, separator },
    rest: text.slice(match[0].length),
  }
}

/** Characters of a line among which its date and time stand. */
const LONGEST = 80

/** Those of Arabic and of Persian have theirs in the last four bits. */
function withPlainDigits(text: string): string {
  return text.replace(/[\u0660-\u0669\u06f0-\u06f9]/g, digit => String(digit.charCodeAt(0) & 0xf))
}
