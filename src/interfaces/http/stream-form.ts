/** Whether an answer is sent as a stream, and in which form: by what the client accepts, and by what its input says. */
import type { EngineOperation } from '../../ops/catalog.ts'
import { valueAt } from './input-path.ts'

/** Lines of JSON, or server-sent events. */
export type StreamForm = 'ndjson' | 'sse'

const FORMS: Readonly<Record<string, StreamForm | 'document'>> = {
  'application/x-ndjson': 'ndjson',
  'text/event-stream': 'sse',
  'application/json': 'document',
  'application/*': 'document',
  '*/*': 'document',
}

/** Null: one document. */
export function streamForm(operation: EngineOperation, accept: string | undefined, input: unknown): StreamForm | null {
  const { stream, streamAt } = operation
  const forms = acceptedForms(accept ?? '')
  const streams = forms.filter(form => form !== 'document')
  const [dearest = 'document'] = forms
  if (dearest !== 'document') {
    // One that has no streamed form refuses, unless a document will do.
    return stream === undefined && forms.includes('document') ? null : dearest
  }
  const isAsked = stream !== undefined && streamAt !== undefined && valueAt(input, streamAt) === true
  return isAsked ? (streams[0] ?? 'ndjson') : null
}

/** Those we have, dearest first; of equals the one named first. */
function acceptedForms(accept: string): readonly (StreamForm | 'document')[] {
  return accept
    .split(',')
    .map(part => {
      const [type = '', ...parameters] = part.split(';').map(text => text.trim().toLowerCase())
      const quality = parameters.find(text => text.startsWith('q='))
      return { form: FORMS[type], quality: quality === undefined ? 1 : Number(quality.slice(2)) }
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ form }) => form ?? [])
}
