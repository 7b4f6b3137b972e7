/** Gathers the text of a page: runs of blanks become one, breaks are written when something follows, headings are noted. */
import type { Heading } from './outline.ts'

export class TextWriter {
  /** Above 0: within `<pre>`, blanks stay as they are. */
  verbatim = 0
  readonly #parts: string[] = []
  readonly #headings: Heading[] = []
  #length = 0
  #breaks = 0
  #blank = false
  #bullet = false
  /** The heading that is being written; `start` is -1 before its first word. */
  #heading: { start: number; text: string } | null = null

  text(raw: string): void {
    if (this.verbatim > 0) {
      this.#put(raw.replace(/\r\n?/g, '\n'))
      return
    }
    const words = raw.replace(/[ \t\r\n\f]+/g, ' ')
    if (words.startsWith(' ')) this.#blank = true
    this.#put(words.trim())
    if (words.endsWith(' ')) this.#blank = true
  }

  /** A blank before what comes next, unless it begins a line. */
  blank(): void {
    this.#blank = true
  }

  /** A mark of a list in front of what comes next. */
  bullet(): void {
    this.#bullet = true
  }

  /** At least so many line ends before what comes next; none before the first text. */
  breakLines(count: number): void {
    this.#breaks = Math.max(this.#breaks, count)
  }

  /** One more line end, two at most. */
  newLine(): void {
    this.#breaks = Math.min(2, this.#breaks + 1)
  }

  beginHeading(): void {
    this.#heading = { start: -1, text: '' }
  }

  endHeading(level: number): void {
    const heading = this.#heading
    this.#heading = null
    if (heading === null || heading.start < 0) return
    const text = heading.text.replace(/\s+/g, ' ').trim()
    this.#headings.push({ start: heading.start, end: this.#length, level, text })
  }

  finish(): { readonly text: string; readonly headings: readonly Heading[] } {
    return { text: this.#parts.join(''), headings: this.#headings }
  }

  #put(text: string): void {
    if (text === '') return
    const gap = this.#gap()
    if (this.#heading !== null) {
      if (this.#heading.start < 0) this.#heading.start = this.#length + gap.length
      this.#heading.text += ` ${text}`.slice(gap === '' ? 1 : 0)
    }
    this.#parts.push(gap, text)
    this.#length += gap.length + text.length
  }

  /** What is due before the next text. */
  #gap(): string {
    const breaks = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#blank ? ' ' : ''
    const gap = (this.#length === 0 ? '' : breaks) + (this.#bullet ? '- ' : '')
    this.#breaks = 0
    this.#blank = false
    this.#bullet = false
    return gap
  }
}
