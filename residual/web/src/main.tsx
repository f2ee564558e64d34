import { render } from 'preact';
import { App } from './app/app.tsx';
import './api/flight.ts'; // it remembers the flight from the first moment on
import './styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no #app');
root.replaceChildren();
render(<App />, root);
