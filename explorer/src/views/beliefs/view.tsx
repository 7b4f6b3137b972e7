import { route, type ViewProps } from '../../shell/router.ts'
import { BeliefPage } from './belief-page.tsx'
import { ComparedBeliefs } from './compared-beliefs.tsx'
import { QuestionPage } from './question-page.tsx'
import './beliefs.css'

/** `#/beliefs` asks, `#/beliefs/<id>` shows one, `#/beliefs/<id>/<other>` sets two side by side. */
export function View({ rest: [id, other] }: ViewProps) {
  const { settings } = route.value
  const question = settings.get('q') ?? ''
  if (id === undefined || id === '') return <QuestionPage question={question} at={settings.get('at') ?? ''} />
  if (other === undefined) return <BeliefPage key={id} id={id} question={question} />
  return <ComparedBeliefs key={`${id} ${other}`} ids={[id, other]} question={question} />
}
