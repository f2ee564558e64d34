import { render } from 'preact';
import { rememberFlight } from './api/flight.ts';
import { keepPage } from './app/kept-page.ts';
import { language } from './language/language.ts';
import { App } from './node-page.tsx';
import './styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no #app');
rememberFlight();
keepPage();
document.documentElement.lang = language;
root.replaceChildren();
render(<App />, root);
