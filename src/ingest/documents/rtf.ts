/** Reads RTF files: text, headings by outline level or style name, lists and tables. Pictures, field codes and hidden text are left out. */
import { storableText } from '../../base/storable.ts'
import { type DocumentReader, unreadable } from './document.ts'
import { FlowWriter } from './flow-writer.ts'

const MAX_DEPTH = 1_000

/** Matches one token of RTF: a control word with its number, a byte in hexadecimal, a control symbol, a brace, or text. */
const TOKEN = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}]+)/gi

/** Names of RTF groups that are left out because their text does not belong to the document, such as font tables. */
const LEFT_OUT = new Set(
  `fonttbl colortbl listtable listoverridetable revtbl pict object themedata datastore latentstyles header headerl
   headerr headerf footer footerl footerr footerf fldinst xe tc generator filetbl rsidtbl pgptbl xmlnstbl annotation
   atnid atnauthor listtext pntext nonshppict mmathPr wgrffmtfilter upr bkmkstart bkmkend`.split(/\s+/),
)

const CODE_PAGES: Readonly<Record<string, string>> = {
  437: 'windows-1252',
  850: 'windows-1252',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  65001: 'utf-8',
}

interface State {
  readonly isLeftOut: boolean
  readonly destination: 'body' | 'info' | 'styles' | 'title' | 'author'
  readonly isNote: boolean
  isHidden: boolean
  /** Number of characters after each `\u` (Unicode character) that are its replacement for programs without Unicode; they are skipped. */
  skip: number
}

export const readRtf: DocumentReader = async bytes => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (!/^\s*\{\\rtf/.test(text.slice(0, 100))) throw unreadable('not RTF: it does not begin with {\\rtf')
  return new RtfReader().read(text)
}

class RtfReader {
  readonly #writer = new FlowWriter()
  readonly #open: State[] = []
  #state: State = { isLeftOut: false, destination: 'body', isNote: false, isHidden: false, skip: 1 }
  #decoder = new TextDecoder('windows-1252')
  /** Bytes of text that have been read but not decoded by the document's code page yet. */
  #bytes: number[] = []
  #toSkip = 0
  #isInTable = false
  /** Whether the current paragraph belongs to a table cell. */
  #isCell = false
  #level: number | null = null
  #isItem = false
  /** Heading level of each paragraph style, by the style's number. */
  readonly #styles = new Map<number, number>()
  #style = { number: 0, name: '' }
  #title = ''
  #author = ''
  /** Whether the next control word is the first in its group; the first one names the kind of the group. */
  #isFirst = false
  #isOptional = false

  read(text: string): Awaited<ReturnType<DocumentReader>> {
    for (const [, word, number, hex, sign, brace, plain] of text.matchAll(TOKEN)) {
      if (hex !== undefined) this.#byte(Number.parseInt(hex, 16))
      else if (word !== undefined) this.#word(word, number === undefined ? null : Number(number))
      else if (brace !== undefined) this.#brace(brace)
      else if (plain !== undefined) this.#plain(plain)
      else if (sign === '*') this.#isOptional = true
      else if (sign === '~') this.#text('\u00a0')
      else if (sign === '_') this.#text('-')
      else if (sign === '\n' || sign === '\r') this.#word('par', null)
      else if (sign !== undefined && '\\{}'.includes(sign)) this.#text(sign)
    }
    this.#decode()
    if (this.#isInTable) this.#endTable()
    const metadata = this.#author === '' ? {} : { author: storableText(this.#author.trim()) }
    return { ...this.#writer.finish(), title: this.#title.trim(), metadata }
  }

  #brace(brace: string): void {
    this.#decode()
    this.#toSkip = 0
    if (brace === '{') {
      if (this.#open.length >= MAX_DEPTH) throw unreadable(`damaged: its groups are nested more than ${MAX_DEPTH} deep`)
      this.#open.push(this.#state)
      this.#state = { ...this.#state }
      this.#isFirst = true
      this.#isOptional = false
      return
    }
    if (this.#state.destination === 'styles') this.#endStyle()
    const { isNote } = this.#state
    this.#state = this.#open.pop() ?? this.#state
    if (isNote && !this.#state.isNote) this.#text(']')
    this.#isFirst = false
  }

  #word(word: string, number: number | null): void {
    if (word !== 'u') this.#decode()
    const isFirst = this.#isFirst
    const isOptional = this.#isOptional
    this.#isFirst = false
    this.#isOptional = false
    if (isFirst && this.#enter(word, isOptional)) return
    if (word === 'bin') return
    if (this.#state.isLeftOut) return
    const isOn = number !== 0
    switch (word) {
      case 'ansicpg':
        this.#useCodePage(String(number))
        break
      case 'uc':
        this.#state.skip = number ?? 1
        break
      case 'u':
        this.#text(String.fromCharCode(((number ?? 0) + 0x10000) & 0xffff))
        this.#toSkip = this.#state.skip
        break
      case 'v':
        this.#state.isHidden = isOn
        break
      case 's':
        if (this.#state.destination === 'styles') this.#style.number = number ?? 0
        else this.#level = this.#styles.get(number ?? 0) ?? null
        break
      case 'outlinelevel': {
        const level = number !== null && number < 9 ? number + 1 : null
        if (this.#state.destination === 'styles') {
          if (level !== null) this.#styles.set(this.#style.number, level)
        } else this.#level = level
        break
      }
      case 'ls':
        this.#isItem = isOn
        break
      case 'pard':
        if (this.#state.isNote) break
        this.#level = null
        this.#isItem = false
        this.#isCell = false
        break
      case 'trowd':
        if (!this.#isInTable) this.#writer.beginTable()
        this.#isInTable = true
        break
      case 'intbl':
        this.#isCell = true
        break
      case 'cell':
        this.#writer.endCell()
        break
      case 'row':
        this.#writer.endRow()
        break
      case 'par':
      case 'sect':
      case 'page':
        if (this.#state.isNote) this.#text(' ')
        else this.#endParagraph()
        break
      case 'line':
        this.#text('\n')
        break
      default: {
        const character = CHARACTERS[word]
        if (character !== undefined) this.#text(character)
      }
    }
  }

  /** Handles the first control word of a group. Returns true if the word names the kind of the group and so has no other effect. */
  #enter(word: string, isOptional: boolean): boolean {
    const state = this.#state
    const become = (over: Partial<State>): true => {
      this.#state = { ...state, ...over }
      return true
    }
    if (LEFT_OUT.has(word)) return become({ isLeftOut: true })
    if (word === 'info') return become({ destination: 'info' })
    if (word === 'stylesheet') return become({ destination: 'styles' })
    if (state.destination === 'info') {
      return word === 'title' || word === 'author' ? become({ destination: word }) : become({ isLeftOut: true })
    }
    if (word === 'footnote') {
      this.#text(' [')
      return become({ isNote: true })
    }
    return isOptional && state.destination !== 'styles' && !KNOWN_OPTIONAL.has(word)
      ? become({ isLeftOut: true })
      : false
  }

  #endStyle(): void {
    const named = /^heading (\d)/i.exec(this.#style.name.trim())?.[1]
    if (named !== undefined && !this.#styles.has(this.#style.number))
      this.#styles.set(this.#style.number, Number(named))
    this.#style = { number: 0, name: '' }
  }

  #plain(raw: string): void {
    this.#isFirst = false
    const text = raw.replace(/[\r\n]/g, '')
    // Text is collected as bytes, because bytes above ASCII have to be decoded by the document's code page.
    for (const character of text.slice(this.#toSkip)) this.#bytes.push(character.charCodeAt(0))
    this.#toSkip = Math.max(0, this.#toSkip - text.length)
  }

  #byte(byte: number): void {
    if (this.#toSkip > 0) this.#toSkip--
    else this.#bytes.push(byte)
  }

  #decode(): void {
    if (this.#bytes.length === 0) return
    const text = this.#decoder.decode(Uint8Array.from(this.#bytes))
    this.#bytes = []
    this.#put(text)
  }

  #text(text: string): void {
    this.#decode()
    this.#put(text)
  }

  #put(text: string): void {
    const { isLeftOut, isHidden, destination } = this.#state
    if (isLeftOut || isHidden) return
    if (destination === 'title') this.#title += text
    else if (destination === 'author') this.#author += text
    else if (destination === 'styles') this.#style.name += text.replace(/;$/, '')
    else if (destination === 'body') this.#writer.text(text)
  }

  #endParagraph(): void {
    if (this.#isInTable && !this.#isCell) this.#endTable()
    const level = this.#level ?? undefined
    this.#writer.endParagraph({ level, isItem: level === undefined && this.#isItem })
  }

  #endTable(): void {
    this.#writer.endTable()
    this.#isInTable = false
  }

  #useCodePage(page: string): void {
    try {
      this.#decoder = new TextDecoder(CODE_PAGES[page] ?? `windows-${page}`)
    } catch {
      // If the document's code page is unknown, windows-1252 is used: ASCII characters are read correctly anyway.
    }
  }
}

/** Names of groups marked as optional that nevertheless contain text of the document. */
const KNOWN_OPTIONAL = new Set(['shptxt', 'fldrslt', 'shpinst'])

const CHARACTERS: Readonly<Record<string, string>> = {
  tab: ' ',
  emdash: '\u2014',
  endash: '\u2013',
  bullet: '\u2022',
  lquote: '\u2018',
  rquote: '\u2019',
  ldblquote: '\u201c',
  rdblquote: '\u201d',
}
