/** Contents that the conformance suites expect of their fixtures. */
import type { ContentBlock } from '@modelcontextprotocol/server'

/** One red pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
/** No samples. */
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

export const IMAGE: ContentBlock = { type: 'image', data: PNG, mimeType: 'image/png' }
export const AUDIO: ContentBlock = { type: 'audio', data: WAV, mimeType: 'audio/wav' }
export const BINARY: string = PNG
/** What tools and prompts say of themselves. */
export const FIXTURE = { description: 'Called by the conformance suite.' }

export function text(said: string): ContentBlock {
  return { type: 'text', text: said }
}

export function embedded(uri: string, said: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType: 'text/plain', text: said } }
}
