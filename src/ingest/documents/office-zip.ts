/** Reads what Office and OpenDocument files have in common: they are ZIP archives of XML files. */
import { instantOf } from '../values.ts'
import { openZip, type ZipArchive, ZipError } from '../zip.ts'
import { type DocumentText, encrypted, unreadable } from './document.ts'
import { attributeOf, readXml, textsOf } from './xml.ts'

const OLE = [0xd0, 0xcf, 0x11, 0xe0]
/**
 * Name of the stream that holds the contents of an encrypted Office document, as the bytes (UTF-16) in which its OLE container has that
 * name.
 */
const ENCRYPTED_STREAM = Buffer.from('EncryptedPackage', 'utf16le')

/**
 * Opens a document that is a ZIP archive and calls `read` with the archive. `what`: kind of document for error messages, such as `a Word
 * document`. Throws if the document is encrypted or not a ZIP archive.
 */
export async function readZip(
  bytes: Uint8Array,
  what: string,
  read: (zip: ZipArchive) => Promise<DocumentText>,
): Promise<DocumentText> {
  if (OLE.every((byte, at) => bytes[at] === byte)) {
    if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(ENCRYPTED_STREAM)) throw encrypted()
    throw unreadable(`not ${what}: it is in the binary format of older programs; save it in a current format`)
  }
  if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) throw unreadable(`not ${what}: it is not a ZIP archive`)
  try {
    return await read(await openZip(bytes))
  } catch (error) {
    if (!(error instanceof ZipError)) throw error
    if (error.isEncrypted) throw encrypted()
    throw unreadable(error.message)
  }
}

/** Text of a file in the archive that every document of this kind must have; throws if it is missing. */
export async function requireText(zip: ZipArchive, name: string, what: string): Promise<string> {
  const text = await zip.text(name)
  if (text === null) throw unreadable(`not ${what}: the archive has no ${name}`)
  return text
}

export type Properties = Pick<DocumentText, 'title' | 'tags' | 'metadata' | 'createdAt' | 'updatedAt'>

/**
 * Title, author, keywords and times from a document's properties: `docProps/core.xml` of Office files, `meta.xml` of OpenDocument files.
 */
export function propertiesOf(xml: string | null): Properties {
  const texts = textsOf(xml, [
    'title',
    'creator',
    'keywords',
    'keyword',
    'created',
    'creation-date',
    'modified',
    'date',
  ])
  const text = (...names: readonly string[]) =>
    names.map(name => texts.get(name)?.trim() ?? '').find(found => found !== '') ?? ''
  const author = text('creator')
  return {
    title: text('title'),
    tags: text('keywords', 'keyword')
      .split(/[,;]/)
      .map(tag => tag.trim())
      .filter(tag => tag !== ''),
    metadata: author === '' ? {} : { author },
    createdAt: timeOf(text('created', 'creation-date')),
    updatedAt: timeOf(text('modified', 'date')),
  }
}

/** Parses a time. Digits after the milliseconds are dropped, because LibreOffice writes nanoseconds. */
export function timeOf(text: string): number | null {
  return instantOf(text.replace(/(\.\d{3})\d+/, '$1'))
}

/**
 * The relationships of a part of an Office document (links to its other parts, such as slides) by their ids, with the targets as paths in
 * the archive. `part`: a path such as `word/document.xml`.
 */
export async function relationsOf(zip: ZipArchive, part: string): Promise<ReadonlyMap<string, Relation>> {
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const xml = await zip.text(`${folder}_rels/${part.slice(folder.length)}.rels`)
  const relations = new Map<string, Relation>()
  if (xml === null) return relations
  readXml(xml, {
    open(name, attributes) {
      if (name !== 'Relationship' || attributeOf(attributes, 'TargetMode') === 'External') return
      const path = resolved(folder, attributeOf(attributes, 'Target'))
      const type = attributeOf(attributes, 'Type')
      relations.set(attributeOf(attributes, 'Id'), { path, type: type.slice(type.lastIndexOf('/') + 1) })
    },
  })
  return relations
}

export interface Relation {
  readonly path: string
  /** Last segment of the relationship's type URL, such as `slide` or `notesSlide`. */
  readonly type: string
}

/**
 * Resolves a relative path in an archive against the folder of the file that contains the path: `../media/a.png` in the folder `word/sub/`
 * is `word/media/a.png`.
 */
export function resolved(folder: string, target: string): string {
  return new URL(target, `zip:///${folder}`).pathname.slice(1)
}
