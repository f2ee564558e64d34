import { render } from 'preact';
import { App } from './app/app.tsx';
import './styles/page.css';

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no #app');
root.replaceChildren();
render(<App />, root);
