import { count, score } from '../../parts/format.ts'
import type { TrustPart } from './wire.ts'

/** Where the trust part of a score comes from. Of what others say of each other, only what may be told. */
export function TrustReasons({ of: trust }: { readonly of: TrustPart }) {
  return (
    <div>
      <h3>Whose trust that is</h3>
      <p>{sentence(trust)}</p>
      {trust.shared && <p>It came through a federation: trust in it is {trust.shared.band}, and no more is shown.</p>}
      {trust.direct && !trust.direct.distrusted && (
        <dl class="beliefs-facts">
          <dt>stated</dt>
          <dd>{score(trust.direct.level)}</dd>
          <dt>for the domains asked about</dt>
          <dd>{score(trust.direct.base)}</dd>
          <dt>since it was last used</dt>
          <dd>{count(Math.round(trust.direct.days_since_use))} days</dd>
          <dt>counts now</dt>
          <dd>{score(trust.direct.value)}</dd>
        </dl>
      )}
    </div>
  )
}

function sentence({ kind, of, direct, transitive, shared }: TrustPart): string {
  const { sources, band } = transitive ?? shared ?? { sources: 'some', band: 'rounded' }
  const whom = of === 'holder' ? 'the holder' : 'the federation as a whole'
  switch (kind) {
    case 'self':
      return 'The belief is held by whoever asks, and trust in oneself is 1.'
    case 'direct':
      return direct?.distrusted
        ? `Whoever asks has stated distrust in ${whom}, and that ends every other way.`
        : `Whoever asks has stated trust in ${whom}; it fades while it is not used.`
    case 'transitive':
      return `Whoever asks has stated nothing of ${whom}. Trust comes through ${sources} of those it trusts, and is ${band}.`
    case 'reputation':
      return `Nobody whom the asker trusts knows ${whom}: reputation counts.`
    case 'default':
      return `Nothing is known of ${whom}: a stranger.`
  }
}
