// Reads a SentencePiece unigram model and writes it as a tokenizer.json of the Hugging Face form.

const VARINT = 0
const BYTES = 2
const FIXED32 = 5
/** Fields of ModelProto and of its pieces. https://github.com/google/sentencepiece, sentencepiece_model.proto */
const PIECES = 1
const PIECE_TEXT = 1
const PIECE_SCORE = 2

/** Pieces in the order of their ids: `[text, score]`. */
export function readPieces(model) {
  return fieldsOf(model)
    .filter(({ number }) => number === PIECES)
    .map(({ value }) => {
      const fields = new Map(fieldsOf(value).map(({ number, value }) => [number, value]))
      return [fields.get(PIECE_TEXT).toString('utf8'), fields.get(PIECE_SCORE)?.readFloatLE() ?? 0]
    })
}

/**
 * Normalisation is NFKC with control characters removed and spaces joined (`nmt_nfkc`, which "Precompiled" stands for in
 * the tokenizer package). A text gets a space in front, `<s>` before and `</s>` behind it.
 */
export function toTokenizerJson(pieces) {
  const special = id => ({ SpecialToken: { id, type_id: 0 } })
  const ids = Object.fromEntries(
    ['<s>', '</s>'].map(token => [
      token,
      { id: token, ids: [pieces.findIndex(([text]) => text === token)], tokens: [token] },
    ]),
  )
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Precompiled', precompiled_charsmap: '' },
        { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' },
        { type: 'Strip', strip_left: true, strip_right: true },
      ],
    },
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('<s>'), { Sequence: { id: 'A', type_id: 0 } }, special('</s>')],
      pair: [special('<s>'), { Sequence: { id: 'A', type_id: 0 } }, special('</s>')],
      special_tokens: ids,
    },
    decoder: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always' },
    model: { type: 'Unigram', unk_id: 0, vocab: pieces.map(([text, score]) => [text, Number(score.toPrecision(8))]) },
  }
}

/** Fields of one protobuf message; integers are skipped, as none is needed. */
function fieldsOf(bytes) {
  const fields = []
  let at = 0
  const varint = () => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const wireType = tag & 7
    if (wireType === VARINT) {
      varint()
      continue
    }
    if (wireType !== BYTES && wireType !== FIXED32)
      throw new Error(`the SentencePiece model has wire type ${wireType} at byte ${at}`)
    const length = wireType === FIXED32 ? 4 : varint()
    fields.push({ number: tag >> 3, value: bytes.subarray(at, at + length) })
    at += length
  }
  return fields
}
