"""The vocabulary of the made-up world: names, places, jobs and schools.

The places are real cities, commonest first. No part of a name is a place, and the three lists of
names have nothing in common, so that nobody's name stands inside another's.
"""

FIRST_NAMES = (
    "Aaron Abena Adam Adele Agnes Ahmed Aiko Alan Albert Alice Amara Amir Amos Ana Anders Andrea"
    " Andrés Anja Anna Anton Anya Arjun Arthur Astrid Aurélie Ayşe Barbara Beatriz Benjamin Berit"
    " Bernard Bianca Björn Boris Brigitte Bruno Camille Carla Carlos Cecilia Cédric Chidi Chloé"
    " Clara Claude Colin Dalia Daniel Daria David Deepa Denis Diego Dilip Dimitri Dorothy Edith"
    " Eduardo Edward Eleni Elif Elisabeth Emeka Emil Emma Enrique Erik Esther Eugène Eva Fatima"
    " Felix Fernando Fiona François Frank Franz Frieda Gabriel George Gerda Gianni Giulia Goran"
    " Greta Guido Gustav Hana Hannah Haruto Hassan Hedda Heinrich Helen Henrik Hiroshi Ibrahim"
    " Ingrid Irena Irina Isaac Isabel István Ivan Jakob James Jamila Jan Jane Jasmine Javier Jean"
    " Jelena João Johanna John José Joseph Judith Julia Jürgen Kamal Karen Karim Karl Katarina"
    " Kato Keiko Kenji Klara Kofi Krzysztof Lars Laura Leila Lena Leo Leonardo Lidia Linda Ling"
    " Louis Louise Lucía Lucien Ludmila Luigi Łukasz Magda Magnus Mahmoud Małgorzata Manuel Marco"
    " Margaret Mariam Mark Marta Martin Mary Mateo Mehmet Mei Michael Miguel Mikhail Milena Mircea"
    " Mohammed Monika Nadia Naomi Natalia Ngozi Nicolas Nikola Nils Nina Noah Nora Olga Oliver"
    " Omar Oscar Otto Pablo Patricia Patrick Paul Pedro Penelope Per Peter Petra Philip Pierre"
    " Priya Rachel Radmila Rahul Raquel Rashid Ravi Rebecca René Ricardo Richard Robert Rosa Roza"
    " Ruth Sabine Salma Samuel Sandra Sanjay Sara Sergei Shira Silvia Simon Siobhán Sławomir Søren"
    " Stefan Stella Sunita Susan Svetlana Tadeusz Takeshi Tamar Tanja Tariq Tatiana Teresa Thomas"
    " Tomáš Tove Ulla Ursula Václav Valeria Vanessa Vera Vikram Viktor Vivian Walter Wanda Wei"
    " William Xavier Yasmin Yuki Yusuf Yvonne Zainab Zdeněk Zoltán Zora"
).split()
MIDDLE_NAMES = (
    "A. B. C. D. E. F. G. H. J. K. L. M. N. P. R. S. T. W. Arden Beckett Blake Calder Carey Darcy"
    " Ellery Falk Gray Hale Ingram Jules Kerr Lowell Marlowe Noor Orr Quincy Robin Sage Sasha"
    " Sinclair Tate Thorne Vale Wren Yael"
).split()
LAST_NAMES = (
    "Abbott, Achterberg, Adeyemi, Aguilar, Ahlgren, Al-Khatib, Almeida, Álvarez, Andersen,"
    " Antonescu, Araujo, Armstrong, Asante, Axelsson, Bachmann, Bakker, Balogh, Banerjee,"
    " Baptiste, Barbieri, Barnes, Baumgartner, Becker, Belyaev, Bennett, Bergström, Bianchi,"
    " Blanchard, Boateng, Bogdanov, Bonnet, Borg, Brandt, Brennan, Brown, Bukowski, Caldwell,"
    " Campbell, Cardoso, Carlsen, Castellano, Černý, Chandra, Chatterjee, Chen, Clarke, Cohen,"
    " Conti, Costa, Cruz, Da Silva, Dąbrowski, Dahl, Danso, Davies, De Luca, Delacroix, Demir,"
    " Desai, Diallo, Dimitrov, Donovan, Dubois, Duarte, Edelstein, Ekström, El Amrani, Ellis,"
    " Engström, Eriksen, Espinoza, Evans, Fabre, Farouk, Fekete, Ferrari, Fischer, Fitzgerald,"
    " Fleming, Fontaine, Forsberg, Foster, Friedman, Fujimoto, Gallagher, García, Gauthier,"
    " Georgiou, Ghosh, Gomes, Górski, Grant, Greenberg, Grigoryan, Gruber, Gupta, Gutiérrez,"
    " Haddad, Håkansson, Halvorsen, Hamidi, Hansen, Harris, Hashimoto, Hayes, Heikkinen,"
    " Hernández, Hoffmann, Holm, Horváth, Hughes, Ibáñez, Ilić, Ito, Ivanova, Iyer, Jackson,"
    " Jakobsen, Jansen, Jansson, Jiménez, Johansson, Jones, Joshi, Kaplan, Karlsson, Kaya, Keller,"
    " Kelly, Khan, Kim, King, Kiss, Klein, Kobayashi, Koch, Kovács, Kowalczyk, Kozlov, Krause,"
    " Kruger, Kumar, Kuznetsov, Lambert, Larsen, Laurent, Lebedev, Lee, Lehtonen, Lévy, Lewis, Li,"
    " Lindgren, Lombardi, López, Lund, MacLeod, Magnússon, Mahlangu, Malik, Mancini, Mariani,"
    " Marković, Martínez, Mazur, McCarthy, Mehta, Mendes, Mensah, Meyer, Mitchell, Molnár, Moore,"
    " Moreau, Moretti, Morris, Müller, Murphy, Mwangi, Nagy, Nair, Nakamura, Navarro, Nguyen,"
    " Nielsen, Nkosi, Novák, Nowak, Nuñez, O'Brien, O'Connor, Ødegaard, Okafor, Okonkwo, Olsen,"
    " Oliveira, Ortega, Östberg, Owusu, Özdemir, Papadopoulos, Park, Patel, Pavlović, Pereira,"
    " Pérez, Petersen, Petrov, Pham, Pinto, Popescu, Procházka, Quigley, Quiroga, Rahman, Ramírez,"
    " Rasmussen, Reid, Ribeiro, Ricci, Rivera, Roberts, Rodríguez, Romano, Rosenthal, Rossi, Roux,"
    " Russo, Rybak, Saito, Salazar, Sánchez, Santos, Sato, Schmidt, Schneider, Schulz, Sharma,"
    " Shevchenko, Silva, Singh, Smith, Sokolov, Sørensen, Stewart, Suzuki, Svensson, Szabó,"
    " Takahashi, Tanaka, Taylor, Thomsen, Thompson, Toth, Traoré, Tremblay, Tsui, Turner, Ueda,"
    " Ulrich, Urban, Van Dyke, Varga, Vargas, Vasquez, Virtanen, Vogel, Volkov, Wagner, Walker,"
    " Wang, Watson, Weber, Weiss, Wiśniewski, Wójcik, Wood, Wright, Wu, Yamamoto, Yılmaz, Young,"
    " Zając, Zhang, Zhou, Zieliński, Zimmermann, Žukauskas"
).split(", ")
PLACES = (
    "London, Paris, New York, Chicago, Berlin, Sydney, Budapest, Melbourne, Rome, Montreal,"
    " Vienna, Philadelphia, Toronto, Dublin, Warsaw, Glasgow, Moscow, Amsterdam, Boston,"
    " Edinburgh, Prague, Oslo, Stockholm, Birmingham, Copenhagen, Naples, Liverpool, Madrid,"
    " Mumbai, Los Angeles, Tokyo, Istanbul, Buenos Aires, Manchester, Belfast, Hamburg, Munich,"
    " Milan, Barcelona, Cairo, Athens, Lisbon, Brussels, Helsinki, Kyiv, Saint Petersburg,"
    " Detroit, Tehran, Shanghai, Beijing, Kolkata, Delhi, Sofia, Bucharest, Belgrade, Zagreb,"
    " Mexico City, São Paulo, Rio de Janeiro, San Francisco, Seattle, Cleveland, Pittsburgh,"
    " Baltimore, New Orleans, Atlanta, Houston, Dallas, Denver, Minneapolis, Winnipeg, Vancouver,"
    " Ottawa, Quebec City, Halifax, Calgary, Sheffield, Leeds, Bristol, Cardiff, Nottingham,"
    " Leicester, Newcastle, Aberdeen, Dundee, Cork, Galway, Lyon, Marseille, Bordeaux, Toulouse,"
    " Strasbourg, Lille, Nantes, Cologne, Frankfurt, Leipzig, Dresden, Stuttgart, Hanover, Bremen,"
    " Nuremberg, Zürich, Geneva, Basel, Bern, Graz, Salzburg, Turin, Genoa, Florence, Venice,"
    " Bologna, Palermo, Trieste, Valencia, Seville, Bilbao, Porto, Rotterdam, Haarlem, Utrecht,"
    " Antwerp, Ghent, Bergen, Trondheim, Gothenburg, Malmö, Uppsala, Aarhus, Tampere, Turku,"
    " Tallinn, Riga, Vilnius, Kraków, Gdańsk, Łódź, Wrocław, Poznań, Lviv, Odesa, Kharkiv, Minsk,"
    " Tbilisi, Yerevan, Baku, Kazan, Brno, Bratislava, Debrecen, Szeged, Ljubljana, Sarajevo,"
    " Skopje, Thessaloniki, Ankara, İzmir, Beirut, Damascus, Jerusalem, Baghdad, Alexandria,"
    " Casablanca, Tunis, Algiers, Lagos, Accra, Nairobi, Cape Town, Johannesburg, Karachi, Lahore,"
    " Dhaka, Chennai, Bangalore, Colombo, Bangkok, Singapore, Manila, Jakarta, Hanoi, Hong Kong,"
    " Taipei, Seoul, Osaka, Kyoto, Auckland, Wellington, Brisbane, Perth, Adelaide, Havana,"
    " Kingston, Bogotá, Lima, Quito, Santiago, Montevideo, Córdoba, Caracas, Reykjavík"
).split(", ")
JOBS = (
    "accountant, actor, agronomist, anthropologist, archaeologist, architect, art historian,"
    " astronomer, athlete, baker, biologist, boxer, botanist, carpenter, cellist, chemist, chess"
    " player, composer, conductor, cyclist, dancer, dentist, diplomat, economist, editor,"
    " engineer, engraver, farmer, film director, footballer, geographer, geologist, goldsmith,"
    " historian, illustrator, inventor, jazz musician, journalist, judge, lawyer, librarian,"
    " linguist, mathematician, midwife, missionary, novelist, nurse, opera singer, organist,"
    " painter, pharmacist, philosopher, photographer, physician, physicist, pianist, pilot,"
    " playwright, poet, politician, potter, printer, psychologist, publisher, rower, sailor,"
    " sculptor, sociologist, stage designer, surgeon, surveyor, swimmer, tailor, teacher, tennis"
    " player, translator, violinist, watchmaker, weaver, zoologist"
).split(", ")
SCHOOLS = (
    "University of {}",
    "{} Academy",
    "College of {}",
    "{} Polytechnic",
    "{} Conservatory",
    "{} Institute of Technology",
    "{} School of Arts",
)
MONTHS = (
    "January February March April May June July August September October November December"
).split()
