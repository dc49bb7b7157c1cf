import { Client } from "propcite";
import { createRoot } from "react-dom/client";

import { Chat } from "./Chat.js";

const { VITE_SERVER = "http://localhost:8600", VITE_COLLECTION = "demo" } = import.meta.env;
const client = new Client(VITE_SERVER, { collection: VITE_COLLECTION });
createRoot(document.getElementById("chat")!).render(<Chat client={client} />);
