/** The worker thread that reads documents: a file that crashes a parser ends this thread, not the process. */
import { answerMessages } from '../../base/thread.ts'
import type { FileName, Unreadable } from '../../model/ingester.ts'
import { type DocumentReader, type DocumentText, UnreadableError } from './document.ts'

export interface DocumentRequest {
  readonly format: DocumentFormat
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly file: FileName
}

export type DocumentReply = { readonly kind: 'text'; readonly document: DocumentText } | Unreadable

/** For each document format, a function that loads its reader; the module is imported when the first document of the format is read. */
const READERS = {
  docx: async () => (await import('./docx.ts')).readDocx,
  eml: async () => (await import('./eml.ts')).readEml,
  epub: async () => (await import('./epub.ts')).readEpub,
  odp: async () => (await import('./odf.ts')).readOdp,
  ods: async () => (await import('./odf.ts')).readOds,
  odt: async () => (await import('./odf.ts')).readOdt,
  pdf: async () => (await import('./pdf.ts')).readPdf,
  pptx: async () => (await import('./pptx.ts')).readPptx,
  rtf: async () => (await import('./rtf.ts')).readRtf,
  xlsx: async () => (await import('./xlsx.ts')).readXlsx,
} satisfies Record<string, () => Promise<DocumentReader>>

export type DocumentFormat = keyof typeof READERS

async function reply({ format, bytes, file }: DocumentRequest): Promise<DocumentReply> {
  try {
    const read = await READERS[format]()
    const document = await read(bytes, file)
    if (document.text.trim() === '') return { kind: 'skipped', reason: 'no_text' }
    return { kind: 'text', document }
  } catch (error) {
    if (error instanceof UnreadableError) return error.why
    return { kind: 'failed', message: `damaged: ${error instanceof Error ? error.message : String(error)}` }
  }
}

answerMessages(reply)
