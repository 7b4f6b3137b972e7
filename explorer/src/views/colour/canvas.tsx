import { useEffect, useRef, useState } from 'preact/hooks'
import type { Binding, DetailedAnswer } from '../../../../src/lenses/chroma/model.ts'
import { entryAddress } from '../../parts/parts.tsx'
import { goTo } from '../../shell/router.ts'
import { theme } from '../../shell/session.ts'
import { type Cloud, type Outlooks, screenColour } from './cloud.ts'
import { ColourScene } from './scene.ts'
import type { Label } from './scene-parts.ts'
import { placeOf } from './scene-parts.ts'

export interface CanvasProps {
  readonly cloud: Cloud
  readonly outlooks: Outlooks
  readonly hashtags: readonly Binding[]
  readonly answer: DetailedAnswer | null
  /** Place of a node among those of the cloud. */
  readonly onName: (index: number) => void
}

/** Pixels: how far off a pointer still points at a node, and how far it may move in a click. */
const REACH = { mouse: 8, touch: 18 } as const
const STILL = 5
const TURN = Math.PI / 8
const NEARER = 1.35
const SHOWN_OF_NAME = 60

/** The picture for eyes and pointers. The tables beside and below it show the same. */
export function Canvas({ cloud, outlooks, hashtags, answer, onName }: CanvasProps) {
  const place = useRef<HTMLDivElement>(null)
  const [scene, setScene] = useState<ColourScene | 'none' | null>(null)
  const drawn = scene === 'none' ? null : scene
  const [pointed, setPointed] = useState<{ readonly index: number; readonly x: number; readonly y: number } | null>(
    null,
  )

  useEffect(() => begin(place.current, cloud.total, setScene), [])
  useEffect(() => {
    if (drawn === null || place.current === null) return
    const paint = (): void => drawn.paint(inksOf(place.current as HTMLElement))
    const media = matchMedia('(prefers-color-scheme: dark)')
    paint()
    media.addEventListener('change', paint)
    return () => media.removeEventListener('change', paint)
  }, [drawn, theme.value])
  useEffect(() => {
    drawn?.setNodes({ ...cloud, count: cloud.points.length })
  }, [drawn, cloud])
  useEffect(() => {
    drawn?.shapeNodes(outlooks.lives, outlooks.strengths, outlooks.healths)
  }, [drawn, cloud, outlooks])
  useEffect(() => {
    if (drawn === null) return
    const labs = hashtags.map(({ L, a, b }) => [L, a, b] as const)
    drawn.setAnchors({
      count: labs.length,
      positions: Float32Array.from(labs.flatMap(placeOf)),
      colours: Float32Array.from(labs.flatMap(screenColour)),
    })
    drawn.ask(answer && { at: answer.query.color, hits: answer.results.map(labOf) })
    drawn.name(labelsOf(hashtags, answer))
  }, [drawn, hashtags, answer])

  if (scene === 'none') {
    return (
      <p class="note">
        This browser cannot draw in three dimensions here (no WebGL 2). The tables say what the picture would show.
      </p>
    )
  }
  const aimAt = (event: PointerEvent): { readonly index: number; readonly x: number; readonly y: number } => {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const [x, y] = [event.clientX - left, event.clientY - top]
    return { index: drawn?.nodeAt(x, y, REACH[isFinger(event) ? 'touch' : 'mouse']) ?? -1, x, y }
  }
  const named = pointed === null ? undefined : cloud.points[pointed.index]
  return (
    <div
      ref={place}
      class="colour-space"
      data-points={drawn === null ? undefined : cloud.points.length}
      data-total={cloud.total}
      data-anchors={hashtags.length}
      data-hits={answer?.results.length ?? 0}
      data-active={outlooks.counts.active}
      data-faded={outlooks.counts.faded}
      data-rotten={outlooks.counts.rotten}
      data-ascended={outlooks.counts.ascended}
    >
      <canvas
        role="img"
        aria-label={`Colour space with ${cloud.points.length} nodes. The tables on this page say the same.`}
        onPointerMove={event => {
          if (event.buttons !== 0 || isFinger(event)) return
          const aim = aimAt(event)
          setPointed(aim.index < 0 ? null : aim)
        }}
        onPointerLeave={() => setPointed(null)}
        onPointerDown={event => {
          const { clientX, clientY } = event
          const canvas = event.currentTarget
          const end = (up: PointerEvent): void => {
            const isStill = Math.hypot(up.clientX - clientX, up.clientY - clientY) < STILL
            if (up.type !== 'pointerup' || !isStill) return
            const { left, top } = canvas.getBoundingClientRect()
            const reach = REACH[isFinger(up) ? 'touch' : 'mouse']
            const index = drawn?.nodeAt(up.clientX - left, up.clientY - top, reach) ?? -1
            const point = cloud.points[index]
            if (point === undefined) return
            // A finger cannot hover: its first tap names, and the name is a link.
            if (isFinger(up)) onName(index)
            else goTo(entryAddress(point.entry_id))
          }
          canvas.addEventListener('pointerup', end, { once: true })
        }}
      />
      <div class="colour-labels" aria-hidden="true" />
      {named && pointed && (
        <span
          class="colour-named"
          aria-hidden="true"
          style={{ transform: `translate(${Math.round(pointed.x)}px, ${Math.round(pointed.y)}px)` }}
        >
          {named.label.slice(0, SHOWN_OF_NAME)}
        </span>
      )}
      <fieldset class="colour-camera">
        <legend class="visually-hidden">Look at the space</legend>
        <button type="button" aria-label="Turn to the left" onClick={() => drawn?.turn(-TURN)}>
          ↶
        </button>
        <button type="button" aria-label="Turn to the right" onClick={() => drawn?.turn(TURN)}>
          ↷
        </button>
        <button type="button" aria-label="Nearer" onClick={() => drawn?.approach(NEARER)}>
          +
        </button>
        <button type="button" aria-label="Farther" onClick={() => drawn?.approach(1 / NEARER)}>
          −
        </button>
        <button type="button" aria-label="As at the beginning" onClick={() => drawn?.home()}>
          ⌂
        </button>
      </fieldset>
    </div>
  )
}

/** Ends what it began. */
function begin(
  place: HTMLElement | null,
  expected: number,
  setScene: (scene: ColourScene | 'none' | null) => void,
): (() => void) | undefined {
  const canvas = place?.querySelector('canvas')
  const labels = place?.querySelector<HTMLElement>('.colour-labels')
  if (!place || !canvas || !labels) return
  if (document.createElement('canvas').getContext('webgl2') === null) {
    setScene('none')
    return
  }
  const onDraw = (times: number): void => {
    place.dataset['frames'] = String(times)
  }
  const scene = new ColourScene({ canvas, labels, expected, onDraw })
  const follow = new ResizeObserver(() => scene.resize(place.clientWidth, place.clientHeight))
  follow.observe(place)
  setScene(scene)
  return () => {
    follow.disconnect()
    scene.dispose()
  }
}

function inksOf(place: HTMLElement): { readonly lines: string; readonly text: string; readonly accent: string } {
  const { color, caretColor, textDecorationColor } = getComputedStyle(place)
  return { lines: textDecorationColor, text: color, accent: caretColor }
}

/** What was asked for first, then the hits, then any hashtag. */
function labelsOf(hashtags: readonly Binding[], answer: DetailedAnswer | null): readonly Label[] {
  const asked = new Set(answer?.query.hashtags)
  const named = (wanted: boolean, kind: Label['kind']): readonly Label[] =>
    hashtags
      .filter(({ hashtag }) => asked.has(hashtag) === wanted)
      .map(({ hashtag, L, a, b }) => ({ text: hashtag, at: [L, a, b], kind }))
  const question: readonly Label[] =
    answer === null ? [] : [{ text: 'question', at: answer.query.color, kind: 'question' }]
  const hits = (answer?.results ?? []).map((row, at) => ({ text: `${at + 1}`, at: labOf(row), kind: 'hit' as const }))
  return [...question, ...hits, ...named(true, 'asked'), ...named(false, 'hashtag')]
}

function labOf({ color_L, color_a, color_b }: DetailedAnswer['results'][number]): readonly [number, number, number] {
  return [color_L, color_a, color_b]
}

function isFinger({ pointerType }: PointerEvent): boolean {
  return pointerType === 'touch'
}
