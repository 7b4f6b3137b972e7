/**
 * Reads XML as a stream of events. Entity declarations in the document type are ignored, so no entity can expand to more than one
 * character.
 */
import sax from 'sax'
import { unreadable } from './document.ts'

export type Attributes = Readonly<Record<string, string>>

/** Functions that the XML reader calls; element names are without their namespace prefix. */
export interface XmlHandler {
  open?(name: string, attributes: Attributes): void
  close?(name: string): void
  /** Called with text between tags; a long text arrives in several calls. */
  text?(text: string): void
}

const UNITS_AT_ONCE = 1 << 16
const MAX_DEPTH = 1_000

export function readXml(xml: string, handler: XmlHandler): void {
  const parser = sax.parser(true)
  let depth = 0
  parser.onerror = error => {
    throw unreadable(`damaged: its XML is not well-formed (${error.message.split('\n', 1)[0]})`)
  }
  parser.onopentag = ({ name, attributes }) => {
    if (++depth > MAX_DEPTH) throw unreadable(`damaged: its XML is nested more than ${MAX_DEPTH} deep`)
    handler.open?.(localName(name), attributes as Attributes)
  }
  parser.onclosetag = name => {
    depth--
    handler.close?.(localName(name))
  }
  parser.ontext = text => handler.text?.(text)
  parser.oncdata = text => handler.text?.(text)
  for (let at = 0; at < xml.length; at += UNITS_AT_ONCE) parser.write(xml.slice(at, at + UNITS_AT_ONCE))
  parser.close()
}

/** Value of the attribute with this name, with or without a namespace prefix; the first one if several match, empty if none does. */
export function attributeOf(attributes: Attributes, name: string): string {
  const own = attributes[name]
  if (own !== undefined) return own
  const ending = `:${name}`
  for (const key in attributes) if (key.endsWith(ending)) return attributes[key] as string
  return ''
}

/** For each of the names, the text of the first XML element with this name: `textsOf(xml, ['title']).get('title')`. */
export function textsOf(xml: string | null, names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (xml === null) return found
  let open: string | null = null
  readXml(xml, {
    open: name => {
      if (open === null && names.includes(name) && !found.has(name)) {
        open = name
        found.set(name, '')
      }
    },
    text: text => {
      if (open !== null) found.set(open, (found.get(open) as string) + text)
    },
    close: name => {
      if (name === open) open = null
    },
  })
  return found
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
