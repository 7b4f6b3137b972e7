import { render } from 'preact'
import { App } from './app.tsx'
import './styles/tokens.css'
import './styles/base.css'

const place = document.getElementById('app')
if (place !== null) render(<App />, place)
