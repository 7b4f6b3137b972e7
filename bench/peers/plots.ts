/** Draws docs/plots/*.svg from the figures in bench/out. Colours are such that they can be read on white and on black. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { PeerFigures, PeersReport } from './lib/figures.ts'
import { load } from './lib/peer.ts'
import { SCENARIOS } from './lib/scenarios.ts'

interface Vega {
  parse(spec: unknown): unknown
  readonly View: new (spec: unknown, options: { readonly renderer: 'none' }) => { toSVG(): Promise<string> }
}

interface VegaLite {
  compile(spec: unknown): { readonly spec: unknown }
}

/** As bench/scale.ts writes it. */
interface Sizes {
  readonly series: readonly {
    readonly name: string
    readonly unit: string
    readonly points: readonly (readonly [chunks: number, value: number])[]
  }[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Half way between black and white, as far as the eye goes. */
const TEXT = '#7d8590'
const LINE = '#7d859055'
const COLOURS = [
  ...['#e5484d', '#f0883e', '#3b82f6', '#2da44e', '#a371f7', '#d29922'],
  ...['#14b8a6', '#db61a2', '#8c959f', '#b07d62', '#6e7bd9', '#6b9e23'],
]
const CONFIG = {
  background: 'transparent',
  font: 'system-ui, sans-serif',
  view: { stroke: LINE },
  axis: {
    labelColor: TEXT,
    titleColor: TEXT,
    gridColor: LINE,
    domainColor: TEXT,
    tickColor: TEXT,
    labelFontSize: 12,
    titleFontSize: 13,
  },
  legend: {
    labelColor: TEXT,
    titleColor: TEXT,
    labelFontSize: 12,
    titleFontSize: 13,
    labelLimit: 0,
    symbolSize: 110,
  },
  header: { labelColor: TEXT, titleColor: TEXT, labelFontSize: 13, titleFontSize: 13 },
  title: { color: TEXT, fontSize: 14 },
  range: { category: COLOURS },
}

export async function drawPlots(): Promise<void> {
  mkdirSync(`${root}docs/plots`, { recursive: true })
  const peers = `${root}bench/out/peers.json`
  if (existsSync(peers)) {
    const report = JSON.parse(readFileSync(peers, 'utf8')) as PeersReport
    const most = Math.max(...report.peers.map(({ rows }) => rows))
    const alike = report.peers.filter(peer => peer.rows === most && Object.keys(peer.nearest).length > 0)
    await draw('recall-latency', recallLatency(alike, report.target))
    await draw('filter-latency', filterLatency(alike))
  }
  const sizes = `${root}bench/out/scale.json`
  const grown = existsSync(sizes) ? (JSON.parse(readFileSync(sizes, 'utf8')) as Sizes) : undefined
  if (grown !== undefined && growsIn(grown)) await draw('cost-size', costSize(grown))
}

function recallLatency(peers: readonly PeerFigures[], target: number): object {
  const values = peers.flatMap(({ name, curve }) =>
    curve.map(({ recall, p50 }, place) => ({ peer: name, recall, p50, place })),
  )
  return {
    title: 'Nearest ten without a filter: what recall costs (each point is one setting)',
    width: 560,
    height: 340,
    layer: [
      {
        data: { values: [{ target }] },
        mark: { type: 'rule', color: TEXT, strokeDash: [4, 4] },
        encoding: { x: { field: 'target', type: 'quantitative' } },
      },
      {
        data: { values },
        mark: { type: 'line', point: { size: 80, filled: true }, strokeWidth: 2 },
        encoding: {
          x: { field: 'recall', type: 'quantitative', title: 'recall@10', scale: { zero: false } },
          y: milliseconds(),
          order: { field: 'place' },
          ...byPeer(peers),
        },
      },
    ],
  }
}

function filterLatency(peers: readonly PeerFigures[]): object {
  const about = {
    random: 'nothing to do with the question',
    near: 'topic of the question',
    far: 'topic unlike the question',
  }
  const values = peers.flatMap(({ name, nearest }) =>
    (['random', 'near', 'far'] as const).flatMap(narrowing =>
      SCENARIOS.filter(one => !one.isNew && (one.narrowing === narrowing || one.narrowing === 'none')).map(one => ({
        peer: name,
        filter: about[narrowing],
        keeps: `${one.share * 100} %`,
        p50: nearest[one.name]?.p50 ?? null,
      })),
    ),
  )
  return {
    title: 'Nearest ten by the share of rows that a filter keeps, at the recall target',
    data: { values: values.filter(({ p50 }) => p50 !== null) },
    facet: { column: { field: 'filter', title: null, sort: Object.values(about) } },
    spec: {
      width: 230,
      height: 320,
      mark: { type: 'line', point: { size: 70, filled: true }, strokeWidth: 2 },
      encoding: {
        x: {
          field: 'keeps',
          type: 'ordinal',
          title: 'rows kept',
          sort: ['100 %', '50 %', '5 %', '0.5 %'],
          axis: { labelAngle: 0 },
        },
        y: milliseconds(),
        ...byPeer(peers),
      },
    },
  }
}

/** What grows with the number of chunks, in plots of one scale each; other series are left to the tables. */
const GROUPS: readonly { readonly title: string; readonly unit: string; readonly name: RegExp }[] = [
  { title: 'questions, p50, ms', unit: 'ms', name: /^(floor|hybrid, 3 words|words only|meaning only)(?!.*p99)/ },
  { title: 'questions, p99, ms', unit: 'ms', name: /^(floor|hybrid, 3 words|words only|meaning only).*p99/ },
  { title: 'opening, ms', unit: 'ms', name: /^(open|load|first question)/ },
  { title: 'memory and disk, bytes a chunk', unit: 'bytes a chunk', name: /./ },
  { title: 'filling, chunks/s', unit: 'chunks/s', name: /./ },
]

function costSize({ series }: Sizes): object {
  const groups = GROUPS.map(({ title, unit, name }) => ({
    title,
    values: series
      .filter(one => one.unit === unit && name.test(one.name))
      .flatMap(one => one.points.map(([chunks, value]) => ({ name: one.name.replace(', p99', ''), chunks, value })))
      // A logarithmic scale has no place for nothing.
      .filter(({ value }) => value > 0),
  }))
  const sizes = [...new Set(series.flatMap(({ points }) => points.map(([chunks]) => chunks)))]
  return {
    title: 'Cost by the number of chunks',
    columns: 2,
    spacing: 30,
    concat: groups
      .filter(({ values }) => values.length > 0)
      .map(({ title, values }) => ({
        width: 330,
        height: 220,
        data: { values },
        mark: { type: 'line', point: { size: 60, filled: true }, strokeWidth: 2 },
        encoding: {
          x: {
            field: 'chunks',
            type: 'quantitative',
            title: 'chunks',
            scale: { type: 'log' },
            axis: { format: '~s', values: sizes },
          },
          y: {
            field: 'value',
            type: 'quantitative',
            title,
            scale: { type: 'log' },
            axis: { format: '~s', tickCount: 5 },
          },
          color: { field: 'name', type: 'nominal', title: null, legend: { orient: 'bottom', columns: 1 } },
        },
      })),
    resolve: { scale: { color: 'independent' } },
  }
}

/** A line has two points. */
function growsIn({ series }: Sizes): boolean {
  return series.some(({ points }) => points.length > 1)
}

function milliseconds(): object {
  return {
    field: 'p50',
    type: 'quantitative',
    title: 'p50, ms (log)',
    scale: { type: 'log' },
    axis: { format: '~g', tickCount: 6 },
  }
}

/** By colour and shape, as not everybody tells colours apart. */
function byPeer(peers: readonly PeerFigures[]): object {
  const domain = peers.map(({ name }) => name)
  const field = { field: 'peer', type: 'nominal', title: null, scale: { domain } }
  return { color: { ...field, scale: { domain, range: COLOURS.slice(0, domain.length) } }, shape: field }
}

async function draw(name: string, spec: object): Promise<void> {
  const vega = await load<Vega>('vega')
  const { compile } = await load<VegaLite>('vega-lite')
  const whole = { $schema: 'https://vega.github.io/schema/vega-lite/v6.json', config: CONFIG, padding: 10, ...spec }
  const svg = await new vega.View(vega.parse(compile(whole).spec), { renderer: 'none' }).toSVG()
  writeFileSync(`${root}docs/plots/${name}.svg`, `${svg}\n`)
}
